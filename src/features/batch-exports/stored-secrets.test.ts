// A stored secret goes where its owner sent it and nowhere else: no change, and no order of changes, takes it to another
// address (security.md, S7). Asked of every kind, for every key that says where its secrets go, at every door.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../test/harness/app.ts'
import type { JsonObject } from '../../lib/json-object.ts'
import { sql } from '../../platform/db/sql.ts'
import { openOutbound } from '../../platform/outbound/outbound.ts'
import { DESTINATIONS } from './destinations/index.ts'
import { everyConfig, OTHER_AIMS, TYPES } from './fixture/every-kind.ts'
import type { ExportRow } from './rows.ts'
import { configWithSecrets } from './secrets.ts'

/** What names resolve to: public, and given back by those who had it, so that nobody can be called. */
const NOWHERE = '3ffe::1'

let app: TestApp
let workspace: Workspace
let key: string
let base: string
beforeAll(async () => {
  app = await startTestApp()
  app.services.outbound = openOutbound({ allow: [], lookup: async () => [{ address: NOWHERE }] })
  workspace = await createOrganization(app)
  key = workspace.owner.key
  base = `/api/projects/${workspace.project.id}/batch_exports/`
})
afterAll(() => app.close())

const CONFIGS = everyConfig((name) => `stored ${name} 7f3a`)
const body = (type: string, config: JsonObject) => ({
  name: 'Kept',
  interval: 'hour',
  destination: { type, config },
})

async function create(type: string): Promise<string> {
  const reply = await app.post(base, body(type, CONFIGS[type]!), { key })
  expect(reply.status).toBe(201)
  return reply.body.id
}

const stored = (id: string) => app.db.only<ExportRow>(sql`SELECT * FROM batch_export WHERE id = ${id}`)
const patch = (id: string, config: JsonObject) =>
  app.patch(`${base}${id}/`, { destination: { config } }, { key })

/** Every way to have a configuration stored or tried out. */
function doors(id: string, type: string, config: JsonObject): [string, () => Promise<Reply>][] {
  const environment = base.replace('projects', 'environments')
  const organization = `/api/organizations/${workspace.organization.id}/batch_exports/`
  const part = { destination: { config } }
  const { secrets } = DESTINATIONS.get(type)!
  const rest = Object.fromEntries(Object.entries(CONFIGS[type]!).filter(([name]) => !secrets.includes(name)))
  const whole = body(type, { ...rest, ...config })
  return [
    ['PATCH', () => app.patch(`${base}${id}/`, part, { key })],
    ['PATCH below environments', () => app.patch(`${environment}${id}/`, part, { key })],
    ['PATCH below the organization', () => app.patch(`${organization}${id}/`, part, { key })],
    ['PUT', () => app.call('PUT', `${base}${id}/`, { key, body: whole })],
    ['PUT below the organization', () => app.call('PUT', `${organization}${id}/`, { key, body: whole })],
    ['test', () => app.post(`${base}${id}/run_test_step/`, part, { key })],
    ['test below environments', () => app.post(`${environment}${id}/run_test_step/`, part, { key })],
  ]
}

const withSecrets = TYPES.filter((type) => DESTINATIONS.get(type)!.secrets.length > 0)

it('all kinds and all their aims are asked about here', () => {
  expect(Object.keys(OTHER_AIMS).toSorted()).toEqual(withSecrets.toSorted())
  for (const type of withSecrets) {
    const { aims } = DESTINATIONS.get(type)!
    expect([type, ...Object.keys(OTHER_AIMS[type]!).toSorted()]).toEqual([type, ...aims.toSorted()])
  }
  for (const type of withSecrets) {
    const { secrets } = DESTINATIONS.get(type)!
    expect(Object.keys(CONFIGS[type]!)).toEqual(expect.arrayContaining([...secrets]))
  }
})

const AIMS = withSecrets.flatMap((type) => Object.keys(OTHER_AIMS[type]!).map((aim) => [type, aim] as const))

describe('400 for another aim without the secrets', () => {
  it.each(AIMS)('%s: %s', async (type, aim) => {
    const id = await create(type)
    const before = await stored(id)
    for (const [door, knock] of doors(id, type, { [aim]: OTHER_AIMS[type]![aim] })) {
      const reply = await knock()
      expect([door, reply.status]).toEqual([door, 400])
      const { secrets } = DESTINATIONS.get(type)!
      // As a whole a configuration may lack more than the secret that would move.
      const attrs = [
        ...secrets.map((secret) => `destination__${secret}`),
        ...(door.startsWith('PUT') ? ['destination'] : []),
      ]
      expect(attrs).toContain(reply.body.attr)
    }
    expect(await stored(id)).toEqual(before)
  })
})

describe('400 while one of the stored secrets is left', () => {
  const MINE = 'http://mine.example/'
  const left = withSecrets.flatMap((type) =>
    DESTINATIONS.get(type)!.secrets.map((secret) => [type, secret] as const),
  )
  it.each(left)('%s: %s', async (type, secret) => {
    const { secrets, aims } = DESTINATIONS.get(type)!
    const others = secrets.filter((each) => each !== secret)
    const mine = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, MINE]))
    const aim = aims.find((each) => !secrets.includes(each))!
    const id = await create(type)
    // First what may be replaced by itself, and then elsewhere with it.
    const harmless = others.filter((each) => !aims.includes(each))
    expect((await patch(id, mine(harmless))).status).toBe(200)
    const before = await stored(id)
    const sly = { ...mine(others), [aim]: OTHER_AIMS[type]![aim] }
    for (const [door, knock] of doors(id, type, sly).filter(([name]) => !name.startsWith('PUT'))) {
      const reply = await knock()
      expect([door, reply.status, reply.body.attr]).toEqual([door, 400, `destination__${secret}`])
    }
    expect(await stored(id)).toEqual(before)
  })
})

describe('400 for a secret that is blanked out, 200 for one that is replaced', () => {
  it.each(withSecrets)('%s', async (type) => {
    const { secrets } = DESTINATIONS.get(type)!
    const id = await create(type)
    const before = await stored(id)
    for (const secret of secrets) {
      for (const blank of [null, '', [], {}, 0, false]) {
        const reply = await patch(id, { [secret]: blank })
        expect([secret, blank, reply.status, reply.body.attr]).toEqual([
          secret,
          blank,
          400,
          `destination__${secret}`,
        ])
      }
    }
    expect(await stored(id)).toEqual(before)
    const mine = Object.fromEntries(secrets.map((secret) => [secret, 'http://mine.example/']))
    const reply = await patch(id, { ...OTHER_AIMS[type], ...mine })
    expect(reply.status).toBe(200)
    const whole = JSON.stringify(configWithSecrets(app.services, await stored(id)))
    expect(whole).not.toContain('stored ')
    expect(JSON.stringify(reply.body)).not.toContain('mine.example')
  })
})

it('two changes at once do not make what neither could', async () => {
  const id = await create('Postgres')
  const replies = await Promise.all([
    patch(id, { host: 'other.example', user: 'me', password: 'mine' }),
    patch(id, { host: 'other.example' }),
    patch(id, { port: 5433 }),
    patch(id, { database: 'other', user: 'me' }),
  ])
  const [whole, , ...parts] = replies.map(({ status }) => status)
  expect([whole, ...parts]).toEqual([200, 400, 400])
  const config = configWithSecrets(app.services, await stored(id))
  expect(JSON.stringify(config)).not.toContain('stored ')
  expect(config).toMatchObject({ host: 'other.example', user: 'me', password: 'mine' })
})
