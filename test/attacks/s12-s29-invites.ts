// Links of invites that are guessed, altered, used twice, old or meant for somebody else; and what lists show.
import { expect } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { secretOf } from '../factories.ts'
import { attack, attackEach, type Attack } from './attack.ts'
import type { Scene } from './scene.ts'

const ACCOUNT = { first_name: 'Mallory', password: 'long-enough-to-be-strong-7291' }
let invited = 0

type Made = { id: string; secret: string; email: string; path: string }

async function invite(scene: Scene, fields: object = {}): Promise<Made> {
  const email = `invited-${++invited}@example.com`
  const path = `/api/organizations/${scene.home.organization.id}/invites/`
  const body = { target_email: email, ...fields }
  const made = await scene.call('POST', path, { key: scene.home.owner.key, body })
  expect(made.status).toBe(201)
  return { id: made.body.id, secret: secretOf(made.body), email, path: `${path}${made.body.id}/` }
}

const accept = ({ call }: Scene, link: string) =>
  call('POST', `/api/signup/${encodeURIComponent(link)}/`, { body: ACCOUNT })

async function assertRefused(scene: Scene, link: string, email: string): Promise<void> {
  for (const reply of [
    await scene.call('GET', `/api/signup/${encodeURIComponent(link)}/`),
    await accept(scene, link),
  ]) {
    expect([400, 404]).toContain(reply.status)
    expect(JSON.stringify(reply.body)).not.toContain(email)
  }
  const users = await scene.target.db.rows(sql`SELECT FROM app_user WHERE email = ${email}`)
  expect(users).toEqual([])
}

/** What is made of the right secret, the id and another's secret. */
const FORGERIES: [string, (made: Made, other: Made) => string][] = [
  ['the id alone', ({ id }) => id],
  ['the id without its dashes', ({ id }) => id.replaceAll('-', '')],
  ['the secret without its end', ({ secret }) => secret.slice(0, -1)],
  ['the secret with one more letter', ({ secret }) => `${secret}A`],
  [
    'the secret with another last letter',
    ({ secret }) => secret.slice(0, -1) + (secret.endsWith('A') ? 'B' : 'A'),
  ],
  ['the secret in capitals', ({ secret }) => secret.toUpperCase()],
  [
    'the secret of another invite behind this id',
    (made, other) => made.secret.slice(0, 22) + other.secret.slice(22),
  ],
  ['the first half of another', (made, other) => other.secret.slice(0, 33) + made.secret.slice(33)],
  ['nulls', ({ secret }) => '\0'.repeat(secret.length)],
  ['a way up', () => '../../users/@me'],
  ['everything', () => '%'],
  ['the hash that is stored', ({ id }) => id + 'a'.repeat(44)],
]

const forgeries = attackEach<Scene, (typeof FORGERIES)[number]>(
  'S12',
  FORGERIES,
  ([name]) => `a link made of ${name}`,
  async (scene, [, forge]) => {
    const [made, other] = [await invite(scene), await invite(scene)]
    await assertRefused(scene, forge(made, other), made.email)
    expect((await accept(scene, made.secret)).status).toBe(201)
  },
)

const used = attack<Scene>('S12', 'a link used twice, and ten times at once', async (scene) => {
  const [once, raced] = [await invite(scene), await invite(scene)]
  expect((await accept(scene, once.secret)).status).toBe(201)
  expect((await accept(scene, once.secret)).status).toBe(400)
  const replies = await Promise.all(Array.from({ length: 10 }, () => accept(scene, raced.secret)))
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(replies.filter(({ status }) => status === 400)).toHaveLength(9)
})

const dead = attackEach<Scene, [string, (scene: Scene, made: Made) => Promise<unknown>]>(
  'S12',
  [
    ['taken back', ({ call, home }, { path }) => call('DELETE', path, { key: home.owner.key })],
    [
      'resent',
      ({ call, home }, { path }) => call('POST', `${path}resend/`, { key: home.owner.key, body: {} }),
    ],
    [
      'replaced',
      ({ call, home }, { email, path }) =>
        call('POST', path.replace(/[^/]+\/$/, ''), { key: home.owner.key, body: { target_email: email } }),
    ],
    [
      'four days old',
      ({ target }, { id }) =>
        target.db.run(sql`UPDATE invite SET expires_at = now() - interval '1 day' WHERE id = ${id}`),
    ],
  ],
  ([name]) => `the link of an invite that was ${name}`,
  async (scene, [, kill]) => {
    const made = await invite(scene)
    await kill(scene, made)
    expect((await accept(scene, made.secret)).status).toBe(400)
    expect((await accept(scene, (await invite(scene)).secret)).status).toBe(201)
  },
)

const others = attackEach<Scene, 'member' | 'loner'>(
  'S12',
  ['member', 'loner'],
  (who) => `the link of somebody else, signed in as ${who}`,
  async (scene, who) => {
    const made = await invite(scene, { level: 15 })
    const options = { session: scene[who].session, body: ACCOUNT }
    const reply = await scene.call('POST', `/api/signup/${made.secret}/`, options)
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_recipient' } })
    const path = `/api/organizations/${scene.home.organization.id}/members/`
    const { results } = (await scene.call('GET', path, { key: scene.home.owner.key })).body
    const owners = results.filter(({ level }: { level: number }) => level === 15)
    expect(owners.map(({ user }: { user: { uuid: string } }) => user.uuid)).not.toContain(scene[who].uuid)
  },
)

const bound = attack<Scene>(
  'S12',
  'organization, address and level in the body of an acceptance',
  async (scene) => {
    const made = await invite(scene)
    const body = {
      ...ACCOUNT,
      email: 'other@example.com',
      target_email: 'other@example.com',
      level: 15,
      organization: scene.victim.organization.id,
      organization_id: scene.victim.organization.id,
      is_staff: true,
    }
    const reply = await scene.call('POST', `/api/signup/${made.secret}/`, { body })
    expect(reply).toMatchObject({ status: 201, body: { email: made.email } })
    const rows = await scene.target.db.rows(sql`
    SELECT email, is_staff, level, organization_id FROM app_user JOIN membership ON user_id = app_user.id
    WHERE app_user.uuid = ${reply.body.uuid}`)
    expect(rows).toEqual([
      { email: made.email, is_staff: false, level: 1, organization_id: scene.home.organization.id },
    ])
  },
)

const raised = attackEach<Scene, [string, object]>(
  'S12',
  [
    ['as a level', { level: 15 }],
    ['by combining with a pending one', { level: 1, combine_pending_invites: true }],
  ],
  ([how]) => `a member who invites an owner ${how}`,
  async (scene, [how, fields]) => {
    const pending = await invite(scene, { level: 15 })
    const path = `/api/organizations/${scene.home.organization.id}/invites/`
    const target_email = how === 'as a level' ? 'new-owner@example.com' : pending.email
    const reply = await scene.call('POST', path, {
      key: scene.member.key,
      body: { target_email, ...fields },
    })
    if (reply.status === 201) expect(reply.body.level).toBe(1)
    else expect(reply.status).toBe(403)
  },
)

const LISTS: [string, (scene: Scene) => string][] = [
  ['invites', ({ home }) => `/api/organizations/${home.organization.id}/invites/`],
  ['members', ({ home }) => `/api/organizations/${home.organization.id}/members/`],
  ['service keys', ({ home }) => `/api/organizations/${home.organization.id}/service_keys/`],
  ['exports', ({ exports }) => exports],
  ['configs of apps', ({ home }) => `/api/projects/${home.project.id}/plugin_configs/`],
  ['the activity log', ({ home }) => `/api/organizations/${home.organization.id}/activity_log/`],
]

const lists = attackEach<Scene, (typeof LISTS)[number]>(
  'S29',
  LISTS,
  ([name]) => `every text in the list of ${name} used as a key, a session and a link`,
  async (scene, [, path]) => {
    await invite(scene, { level: 15 })
    const { status, body } = await scene.call('GET', `${path(scene)}?limit=5`, { key: scene.admin.key })
    expect(status).toBe(200)
    const texts = [...JSON.stringify(body.results.slice(0, 3)).matchAll(/"([\w-]{20,100})"/g)].map(
      ([, text]) => text!,
    )
    for (const text of new Set(texts)) {
      expect((await scene.call('GET', '/api/users/@me/', { key: text })).status).toBe(401)
      expect((await scene.call('GET', '/api/users/@me/', { session: text })).status).toBe(401)
      expect((await scene.call('GET', `/api/signup/${text}/`)).status).toBe(400)
    }
  },
)

export const attacks: Attack<Scene>[] = [...forgeries, used, ...dead, ...others, bound, ...raised, ...lists]
