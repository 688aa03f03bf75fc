// Directories that reach too far: whoever holds the token of one tenant at the people of another, an admin by way of the directory
// at owners and staff, those who were deactivated, and requests that would cost more than they weigh.
import { expect } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { createMember } from '../factories.ts'
import { attack, attackEach, type Attack } from './attack.ts'
import type { Scene } from './scene.ts'

const DIRECTORY = '/domains/:domain_id/scim/'
const patchOf = (...Operations: object[]) => ({ Operations })

type Opened = { base: string; admin: string; domain: string; token: string }

/** A directory with a fresh token, of the attackers or of the victim. */
async function open(scene: Scene, workspace: Scene['home']): Promise<Opened> {
  const { key } = workspace.owner
  const id = scene.children(DIRECTORY, workspace)
  const above = `/api/organizations/${workspace.organization.id}/domains/${id}/`
  const { domain } = (await scene.call('GET', above, { key })).body
  const rolled = await scene.call('POST', `${above}scim/token/`, { key, body: {} })
  expect(rolled.status).toBe(200)
  return { base: `/scim/v2/${id}`, admin: `${above}scim/`, domain, token: rolled.body.scim_bearer_token }
}

let made = 0

async function addPerson(scene: Scene, { base, domain, token }: Opened) {
  const email = `person-${++made}@${domain}`
  const body = { userName: email, emails: [{ value: email, primary: true }] }
  const reply = await scene.call('POST', `${base}/Users`, { key: token, body })
  expect(reply.status).toBe(201)
  return { id: idOf(reply), email }
}

async function addGroup(scene: Scene, { base, token }: Opened, members: string[]) {
  const body = { displayName: `Group ${++made}`, members: members.map((value) => ({ value })) }
  const reply = await scene.call('POST', `${base}/Groups`, { key: token, body })
  expect(reply.status).toBe(201)
  return idOf(reply)
}

const idOf = ({ headers }: { headers: object }) =>
  String((headers as { location?: string }).location)
    .split('/')
    .at(-1)!

const maker = (scene: Scene) => ({
  db: scene.target.db,
  canary: scene.canary,
  services: { now: () => new Date() },
})
const addressOf = async (scene: Scene, id: number) =>
  (await scene.target.db.only<{ email: string }>(sql`SELECT email FROM app_user WHERE id = ${id}`)).email

const FOREIGN = (['Users', 'Groups'] as const).flatMap((type) =>
  (['GET', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => ({ type, method })),
)

const byId = attackEach<Scene, (typeof FOREIGN)[number]>(
  'S10',
  FOREIGN,
  ({ type, method }) => `${method} /scim/v2/…/${type}/:id of another tenant's directory, with the own token`,
  async (scene, { type, method }) => {
    const [own, theirs] = [await open(scene, scene.home), await open(scene, scene.victim)]
    const person = await addPerson(scene, theirs)
    const id = type === 'Users' ? person.id : await addGroup(scene, theirs, [person.id])
    const bodies = {
      PUT: { body: { userName: 'x', displayName: 'x' } },
      PATCH: { body: patchOf({ op: 'replace', value: { active: false, displayName: 'x' } }) },
      GET: {},
      DELETE: {},
    }
    const ask = (base: string, key: string) =>
      scene.call(method, `${base}/${type}/${id}`, { key, ...bodies[method] })
    expect((await ask(own.base, own.token)).status).toBe(404)
    expect((await ask(theirs.base, own.token)).status).toBe(401)
    const still = await scene.call('GET', `${theirs.base}/${type}/${id}`, { key: theirs.token })
    expect(still.status).toBe(200)
    expect(JSON.stringify(still.body)).toContain(person.email)
  },
)

const REACHES: [string, (scene: Scene, own: Opened, victim: Opened) => Promise<void>][] = [
  [
    'making somebody of another tenant a member by their address',
    async (scene, own) => {
      const { email } = scene.victim.owner
      const body = { userName: email, emails: [{ value: email, primary: true }] }
      expect((await scene.call('POST', `${own.base}/Users`, { key: own.token, body })).status).toBe(400)
    },
  ],
  [
    "another tenant's person in a group of the own directory",
    async (scene, own, victim) => {
      const { id } = await addPerson(scene, victim)
      const body = { displayName: `Smuggled ${++made}`, members: [{ value: id }] }
      expect((await scene.call('POST', `${own.base}/Groups`, { key: own.token, body })).status).toBe(400)
    },
  ],
  [
    "a group that opens another tenant's project",
    async (scene, own) => {
      const group = await addGroup(scene, own, [])
      const body = { projects: [{ id: scene.victim.project.id, level: 'admin' }] }
      const reply = await scene.call('PATCH', `${own.admin}groups/${group}/`, {
        key: scene.home.owner.key,
        body,
      })
      expect(reply.status).toBe(400)
    },
  ],
  [
    "filters that look for another tenant's people",
    async (scene, own, victim) => {
      const { email } = await addPerson(scene, victim)
      for (const filter of [
        `userName eq "${email}"`,
        `emails co "${victim.domain}"`,
        `not (userName sw "nobody") and emails co "${victim.domain}"`,
      ]) {
        const path = `${own.base}/Users?filter=${encodeURIComponent(filter)}`
        const reply = await scene.call('GET', path, { key: own.token })
        expect(reply.status).toBe(200)
        expect(JSON.stringify(reply.body)).not.toContain(email)
      }
    },
  ],
  [
    "the own people at another tenant's address of the service",
    async (scene, own, victim) => {
      const body = { userName: `x@${victim.domain}` }
      expect((await scene.call('POST', `${victim.base}/Users`, { key: own.token, body })).status).toBe(401)
    },
  ],
]

const reaches = attackEach<Scene, (typeof REACHES)[number]>(
  'S10',
  REACHES,
  ([name]) => `by SCIM: ${name}`,
  async (scene, [, run]) => {
    const [own, victim] = [await open(scene, scene.home), await open(scene, scene.victim)]
    const count = () =>
      scene.target.db.only<{ count: number }>(sql`
        SELECT count(*)::int AS count FROM membership WHERE organization_id = ${scene.home.organization.id}`)
    const before = await count()
    await run(scene, own, victim)
    expect(await count()).toEqual(before)
  },
)

const tokens: Attack<Scene>[] = [
  attack('S9', 'reading the token of a directory again', async (scene) => {
    const own = await open(scene, scene.home)
    const { key } = scene.home.owner
    for (const path of [
      own.admin,
      own.admin.replace('scim/', ''),
      `${own.admin}requests/`,
      `${own.admin}groups/`,
      `/api/organizations/${scene.home.organization.id}/activity_log/`,
    ]) {
      const reply = await scene.call('GET', path, { key })
      expect(reply.status).toBe(200)
      expect(JSON.stringify(reply.body)).not.toContain(own.token)
    }
  }),
  attack(
    'S11',
    'a token of a directory for members, and for keys that may not manage members',
    async (scene) => {
      const own = await open(scene, scene.home)
      expect(
        (await scene.call('POST', `${own.admin}token/`, { key: scene.member.key, body: {} })).status,
      ).toBe(403)
      expect((await scene.call('GET', `${own.base}/Users`, { key: own.token })).status).toBe(200)
      expect((await scene.call('GET', '/api/users/@me/', { key: own.token })).status).toBe(401)
    },
  ),
]

const RAISED: [string, object][] = [
  ['an owner', { level: 'owner' }],
  ['staff of the installation', { is_staff: true }],
]

const addresses = attackEach<Scene, (typeof RAISED)[number]>(
  'S31',
  RAISED,
  ([name]) => `moving the account of ${name} to another address, by the directory`,
  async (scene, [, fields]) => {
    const own = await open(scene, scene.home)
    const email = `raised-${++made}@${own.domain}`
    const user = await createMember(maker(scene), scene.home.organization, { email, ...fields })
    const body = { userName: email, emails: [{ value: email, primary: true }] }
    const id = idOf(await scene.call('POST', `${own.base}/Users`, { key: own.token, body }))
    const moved = `attacker-${++made}@${own.domain}`
    for (const send of [
      { method: 'PUT', body: { userName: moved, emails: [{ value: moved, primary: true }] } },
      {
        method: 'PATCH',
        body: patchOf({ op: 'replace', value: { userName: moved, emails: [{ value: moved }] } }),
      },
    ])
      await scene.call(send.method, `${own.base}/Users/${id}`, { key: own.token, body: send.body })
    expect(await addressOf(scene, user.id)).toBe(email)
  },
)

const returning = attack<Scene>(
  'S31',
  'an owner who is deactivated by the directory, given an address of the attacker, and brought back',
  async (scene) => {
    const own = await open(scene, scene.home)
    const email = `away-${++made}@${own.domain}`
    const { organization } = scene.home
    const user = await createMember(maker(scene), organization, { email, level: 'owner' })
    const body = { userName: email, emails: [{ value: email, primary: true }] }
    const id = idOf(await scene.call('POST', `${own.base}/Users`, { key: own.token, body }))
    const send = (method: string, sent: object) =>
      scene.call(method, `${own.base}/Users/${id}`, { key: own.token, body: sent })
    expect((await send('PATCH', patchOf({ op: 'replace', path: 'active', value: false }))).status).toBe(200)
    const moved = `attacker-${++made}@${own.domain}`
    const back = { userName: moved, emails: [{ value: moved, primary: true }], active: true }
    expect((await send('PUT', back)).status).toBe(200)
    const { level } = await scene.target.db.only<{ level: number }>(sql`
      SELECT level FROM membership WHERE organization_id = ${organization.id} AND user_id = ${user.id}`)
    expect(level).toBe(8)
  },
)

const ended = attack<Scene>(
  'S17',
  'the keys and sessions of somebody whom the directory deactivated',
  async (scene) => {
    const own = await open(scene, scene.home)
    const email = `leaver-${++made}@${own.domain}`
    const user = await createMember(maker(scene), scene.home.organization, { email, level: 'admin' })
    const path = `/api/projects/${scene.home.project.id}/`
    const body = { userName: email, emails: [{ value: email, primary: true }] }
    const id = idOf(await scene.call('POST', `${own.base}/Users`, { key: own.token, body }))
    expect((await scene.call('GET', path, { key: user.key })).status).toBe(200)
    const off = patchOf({ op: 'Replace', path: 'active', value: 'False' })
    expect((await scene.call('PATCH', `${own.base}/Users/${id}`, { key: own.token, body: off })).status).toBe(
      200,
    )
    for (const credential of [{ key: user.key }, { session: user.session }])
      expect([401, 403, 404]).toContain((await scene.call('GET', path, credential)).status)
    // With admin rights they could have made a token for themselves: it is the organization's, and not theirs.
    expect([401, 403]).toContain(
      (await scene.call('POST', `${own.admin}token/`, { key: user.key, body: {} })).status,
    )
  },
)

const WORDS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '__defineGetter__',
  'constructor.prototype',
]

const prototypes = attackEach<Scene, string>(
  'S18',
  WORDS,
  (word) => `${word} as an attribute of SCIM: path, key, filter and selection`,
  async (scene, word) => {
    const own = await open(scene, scene.home)
    const { id } = await addPerson(scene, own)
    const path = `${own.base}/Users/${id}`
    const send = (method: string, to: string, body?: unknown) =>
      scene.call(method, to, { key: own.token, ...(body === undefined ? {} : { body }) })
    const asPath = patchOf(
      { op: 'add', path: `${word}.polluted`, value: 'yes' },
      { op: 'add', path: word, value: { polluted: 'yes' } },
    )
    const asKey = `{"Operations":[{"op":"add","value":{"${word}":{"polluted":"yes"}}}]}`
    expect((await send('PATCH', path, asPath)).status).toBe(400)
    expect([200, 400]).toContain((await send('PATCH', path, asKey)).status)
    const query = new URLSearchParams({
      filter: `${word} eq "x"`,
      sortBy: 'userName',
      attributes: `${word},userName`,
    })
    expect([200, 400]).toContain((await send('GET', `${own.base}/Users?${query.toString()}`)).status)
    const { status, body } = await send('GET', path)
    expect(status).toBe(200)
    expect(JSON.stringify(body)).not.toContain('polluted')
  },
)

const many = (count: number, text: string, between = '') =>
  Array.from({ length: count }, () => text).join(between)
const BOMBS: [string, (own: Opened) => { method: string; path: string; body?: unknown }][] = [
  [
    'a filter of 100,000 brackets',
    () => ({ method: 'POST', path: '/Users/.search', body: { filter: `${many(100_000, '(')}a pr` } }),
  ],
  [
    'a filter of 10,000 terms',
    () => ({ method: 'POST', path: '/Users/.search', body: { filter: many(10_000, 'userName pr', ' or ') } }),
  ],
  [
    'a filter of one endless text',
    () => ({
      method: 'POST',
      path: '/Users/.search',
      body: { filter: `userName eq "${many(1_000_000, '\\')}` },
    }),
  ],
  [
    '100,000 attributes',
    () => ({ method: 'POST', path: '/Users/.search', body: { attributes: many(100_000, 'a', ',') } }),
  ],
  [
    'a patch of 20,000 operations',
    () => ({
      method: 'PATCH',
      path: '/Users/:id',
      body: patchOf(...Array.from({ length: 20_000 }, () => ({ op: 'add', path: 'title', value: 'x' }))),
    }),
  ],
  [
    'a value path of a thousand levels',
    () => ({
      method: 'PATCH',
      path: '/Users/:id',
      body: patchOf({
        op: 'add',
        path: `${many(1_000, 'emails[')}type eq "x"${many(1_000, ']')}`,
        value: 'x',
      }),
    }),
  ],
  ['a body of a million levels', () => ({ method: 'POST', path: '/Users', body: many(1_000_000, '[') })],
  [
    'a thousand bulk requests in one',
    () => ({
      method: 'POST',
      path: '/Bulk',
      body: { Operations: Array.from({ length: 1_000 }, () => ({ method: 'DELETE', path: '/Users/x' })) },
    }),
  ],
  [
    'bulk requests that wait for each other',
    () => ({
      method: 'POST',
      path: '/Bulk',
      body: {
        Operations: Array.from({ length: 100 }, (_, at) => ({
          method: 'POST',
          path: '/Groups',
          bulkId: `${at}`,
          data: { displayName: `bulkId:${(at + 1) % 100}` },
        })),
      },
    }),
  ],
]

const bombs = attackEach<Scene, (typeof BOMBS)[number]>(
  'S33',
  BOMBS,
  ([name]) => `by SCIM: ${name}`,
  async (scene, [, make]) => {
    const own = await open(scene, scene.home)
    const { id } = await addPerson(scene, own)
    const { method, path, body } = make(own)
    const began = performance.now()
    const reply = await scene.call(method, own.base + path.replace(':id', id), { key: own.token, body })
    expect(performance.now() - began).toBeLessThan(10_000)
    expect([200, 400, 413]).toContain(reply.status)
    expect((await scene.call('GET', `${own.base}/Users/${id}`, { key: own.token })).status).toBe(200)
  },
)

export const attacks: Attack<Scene>[] = [
  ...byId,
  ...reaches,
  ...tokens,
  ...addresses,
  returning,
  ended,
  ...prototypes,
  ...bombs,
]
