// Holds what the server shows over HTTP against the ledger.
import type { Organization, ServiceKey } from './ledger.ts'

type Ask = (path: string, key: string) => Promise<{ status: number; body: Record<string, unknown> }>
type Item = Record<string, unknown>

export async function checkOrganization(
  ask: Ask,
  key: string,
  organization: Organization,
  fault: (text: string) => void,
): Promise<void> {
  const path = `/api/organizations/${organization.id}/`
  const { status, body } = await ask(path, key)
  if (organization.is_deleted) {
    if (status !== 404) fault(`a deleted organization answers ${status}`)
    return
  }
  if (status !== 200) return fault(`organization ${organization.name} answers ${status}`)
  const list = async (name: string) => (await ask(`${path}${name}/?limit=1000`, key)).body.results as Item[]
  const projects = new Map((body.teams as Item[]).map((team) => [team.id, team.name]))
  const first = [...projects].find(([, name]) => name === 'Default project')
  if (first) projects.delete(first[0])
  const invites = (await list('invites')).map((one) => one.target_email)
  const keys = new Map((await list('service_keys')).map((one) => [one.id, one.label]))
  const members = await list('members')
  const levels = new Map(members.map((one) => [(one.user as Item).uuid, one.level]))
  const addresses = new Set(members.map((one) => (one.user as Item).email))

  const expectSame = (what: string, shown: unknown, known: unknown) => {
    if (text(shown) !== text(known))
      fault(`${organization.name}: ${what} are ${text(shown)} instead of ${text(known)}`)
  }
  if (!first) fault(`${organization.name}: the first project is gone`)
  expectSame('name', body.name, organization.name)
  expectSame('projects', [...projects], [...organization.projects])
  expectSame('invites', invites, [...organization.invites.keys()])
  expectSame(
    'service keys',
    [...keys],
    [...organization.keys].map(([id, one]) => [id, one.label]),
  )
  for (const [uuid, member] of organization.members) expectSame('levels', levels.get(uuid), member.level)
  for (const address of organization.joined) {
    if (!addresses.has(address)) fault(`${organization.name}: ${address} accepted and is no member`)
  }
  for (const one of organization.keys.values()) await checkKey(ask, one, fault)
}

/** The value that was answered works, and none that it replaced. */
async function checkKey(ask: Ask, key: ServiceKey, fault: (text: string) => void): Promise<void> {
  const statusOf = async (value: string) => (await ask('/api/personal_api_keys/@current/', value)).status
  if (key.value !== null && (await statusOf(key.value)) !== 200) fault(`key ${key.label} does not work`)
  for (const value of key.former_values) {
    if ((await statusOf(value)) !== 401) fault(`key ${key.label} still works with a value that was replaced`)
  }
}

function text(value: unknown): string {
  return JSON.stringify(Array.isArray(value) ? value.map((one) => JSON.stringify(one)).sort() : value)
}
