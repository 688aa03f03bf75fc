// The changes a client makes: what it sends, which entry of the activity log goes with it, and what it means once done.
// Every name, address and label is used once, so that an entry can belong to one change only.
import { Organization, type Change, type Entry } from './ledger.ts'
import type { Random } from './random.ts'

export type Operation = Pick<Change, 'what' | 'organization' | 'entry_key' | 'apply'> & {
  method: 'POST' | 'PATCH' | 'DELETE'
  path: string
  body?: Record<string, unknown>
}

/** What an operation is made from. */
export type Hand = {
  random: Random
  /** A text nobody has used before. */
  newMark(): string
  home: Organization
  shared: Organization
  /** Organizations this client made, for it to change and delete. */
  own: Organization[]
  /** Marks of what this client put into the shared organization: others leave it alone. */
  isMine(mark: string): boolean
}

type Make = (hand: Hand) => Operation | null

/** In the order of how often they come, by weight; null when there is nothing to do it to. */
const MAKES: readonly [weight: number, make: Make][] = [
  [22, createOrganization],
  [10, renameOrganization],
  [8, deleteOrganization],
  [16, invite],
  [5, takeBackInvite],
  [2, acceptInvite],
  [10, changeLevel],
  [8, createProject],
  [6, renameProject],
  [4, deleteProject],
  [5, createKey],
  [2, rollKey],
  [2, deleteKey],
]
const ALL = MAKES.flatMap(([weight, make]) => Array.from({ length: weight }, () => make))

export function nextOperation(hand: Hand): Operation {
  for (;;) {
    const operation = hand.random.pick(ALL)(hand)
    if (operation) return operation
  }
}

function createOrganization({ newMark, own }: Hand): Operation {
  const mark = newMark()
  return {
    what: 'create organization',
    organization: null,
    method: 'POST',
    path: '/api/organizations/',
    body: { name: mark },
    entry_key: `Organization created ${mark}`,
    apply: (body, entry) => void own.push(new Organization(idOf(body, entry), mark)),
  }
}

function renameOrganization({ random, newMark, home, own }: Hand): Operation {
  const organization = random.pick([home, ...own])
  const mark = newMark()
  return {
    what: 'rename organization',
    organization,
    method: 'PATCH',
    path: pathOf(organization),
    body: { name: mark },
    entry_key: `Organization updated ${mark}`,
    apply: () => void (organization.name = mark),
  }
}

function deleteOrganization({ random, own }: Hand): Operation | null {
  if (own.length === 0) return null
  const organization = random.pick(own)
  return {
    what: 'delete organization',
    organization,
    method: 'DELETE',
    path: pathOf(organization),
    entry_key: `Organization deleted ${organization.name}`,
    apply() {
      organization.is_deleted = true
      own.splice(own.indexOf(organization), 1)
    },
  }
}

function invite({ random, newMark, home, shared, own }: Hand): Operation {
  const organization = random.pick([home, shared, shared, ...own])
  const address = `${newMark()}@crash.example`
  return {
    what: 'invite',
    organization,
    method: 'POST',
    path: `${pathOf(organization)}invites/`,
    body: { target_email: address },
    entry_key: `OrganizationInvite created ${address}`,
    apply: (body) => void organization.invites.set(address, body === null ? null : String(body.id)),
  }
}

function takeBackInvite(hand: Hand): Operation | null {
  const chosen = pickInvite(hand, hand.random.pick([hand.home, hand.shared]))
  if (!chosen) return null
  const { organization, address, id } = chosen
  return {
    what: 'take back invite',
    organization,
    method: 'DELETE',
    path: `${pathOf(organization)}invites/${id}/`,
    entry_key: `OrganizationInvite deleted ${address}`,
    apply: () => void organization.invites.delete(address),
  }
}

function acceptInvite(hand: Hand): Operation | null {
  const chosen = pickInvite(hand, hand.home)
  if (!chosen) return null
  const { organization, address, id } = chosen
  return {
    what: 'accept invite',
    organization,
    method: 'POST',
    path: `/api/signup/${id}/`,
    body: { first_name: 'New', password: `long-enough-for-${address}` },
    entry_key: `OrganizationInvite accepted ${address}`,
    apply() {
      organization.invites.delete(address)
      organization.joined.add(address)
    },
  }
}

function pickInvite({ random, isMine }: Hand, organization: Organization) {
  const known = [...organization.invites].filter(([address, id]) => id !== null && isMine(address))
  if (known.length === 0) return null
  const [address, id] = random.pick(known)
  return { organization, address, id: id! }
}

function changeLevel({ random, home }: Hand): Operation {
  const [uuid, member] = random.pick([...home.members])
  const level = random.pick([1, 8, 15].filter((other) => other !== member.level))
  return {
    what: 'change level',
    organization: home,
    method: 'PATCH',
    path: `${pathOf(home)}members/${uuid}/`,
    body: { level },
    entry_key: `OrganizationMembership updated #${member.membership_id}`,
    apply: () => void (member.level = level),
  }
}

function createProject({ random, newMark, home, shared, own }: Hand): Operation {
  const organization = random.pick([home, shared, ...own])
  const mark = newMark()
  return {
    what: 'create project',
    organization,
    method: 'POST',
    path: `${pathOf(organization)}projects/`,
    body: { name: mark },
    entry_key: `Project created ${mark}`,
    apply: (body, entry) => void organization.projects.set(Number(idOf(body, entry)), mark),
  }
}

function renameProject(hand: Hand): Operation | null {
  const chosen = pickProject(hand)
  if (!chosen) return null
  const { organization, id } = chosen
  const mark = hand.newMark()
  return {
    what: 'rename project',
    organization,
    method: 'PATCH',
    path: `/api/projects/${id}/`,
    body: { name: mark },
    entry_key: `Project updated ${mark}`,
    apply: () => void organization.projects.set(id, mark),
  }
}

function deleteProject(hand: Hand): Operation | null {
  const chosen = pickProject(hand)
  if (!chosen) return null
  const { organization, id, name } = chosen
  return {
    what: 'delete project',
    organization,
    method: 'DELETE',
    path: `${pathOf(organization)}projects/${id}/`,
    entry_key: `Project deleted ${name}`,
    apply: () => void organization.projects.delete(id),
  }
}

function pickProject({ random, home, own }: Hand) {
  const organization = random.pick([home, ...own])
  if (organization.projects.size === 0) return null
  const [id, name] = random.pick([...organization.projects])
  return { organization, id, name }
}

function createKey({ random, newMark, home, shared }: Hand): Operation {
  const organization = random.pick([home, shared])
  const label = newMark()
  return {
    what: 'create key',
    organization,
    method: 'POST',
    path: `${pathOf(organization)}service_keys/`,
    body: { label, scopes: ['organization:read'] },
    entry_key: `ServiceAPIKey created ${label}`,
    apply(body, entry) {
      const value = body === null ? null : String(body.value)
      organization.keys.set(idOf(body, entry), { label, value, former_values: [] })
    },
  }
}

function rollKey({ random, home }: Hand): Operation | null {
  if (home.keys.size === 0) return null
  const [id, key] = random.pick([...home.keys])
  return {
    what: 'roll key',
    organization: home,
    method: 'POST',
    path: `${pathOf(home)}service_keys/${id}/roll/`,
    body: {},
    entry_key: `ServiceAPIKey rolled #${id}`,
    apply(body) {
      if (key.value !== null) key.former_values.push(key.value)
      key.value = body === null ? null : String(body.value)
    },
  }
}

function deleteKey({ random, home }: Hand): Operation | null {
  if (home.keys.size === 0) return null
  const [id] = random.pick([...home.keys])
  return {
    what: 'delete key',
    organization: home,
    method: 'DELETE',
    path: `${pathOf(home)}service_keys/${id}/`,
    entry_key: `ServiceAPIKey deleted #${id}`,
    apply: () => void home.keys.delete(id),
  }
}

function pathOf(organization: Organization): string {
  return `/api/organizations/${organization.id}/`
}

/** As answered, or, where no answer came, as recorded. */
function idOf(body: Record<string, unknown> | null, entry: Entry | null): string {
  return body === null ? entry!.item_id! : String(body.id)
}
