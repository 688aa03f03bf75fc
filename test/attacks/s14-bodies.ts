// Fields of a body that would choose whose thing is made, or what its maker may do.
import { expect } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { attack, attackEach, type Attack } from './attack.ts'
import type { Scene } from './scene.ts'

/** Fields that no call offers: each is ignored or refused, and what it names is not touched. */
const privileged = ({ victim, home }: Scene) => ({
  user: victim.owner.id,
  user_id: victim.owner.id,
  user_uuid: victim.owner.uuid,
  created_by: victim.owner.id,
  owner: victim.owner.id,
  organization: victim.organization.id,
  organization_id: victim.organization.id,
  project: victim.project.id,
  project_id: victim.project.id,
  team: victim.project.id,
  team_id: victim.project.id,
  is_superuser: true,
  id: home.project.id,
  uuid: victim.owner.uuid,
  api_token: victim.project.api_token,
  level: 15,
})

const MADE: [
  string,
  (scene: Scene) => { path: string; body: object; session?: string; key?: string },
  string,
][] = [
  [
    'a personal key',
    ({ member }) => ({
      path: '/api/personal_api_keys/',
      session: member.session,
      body: { label: 'k', scopes: ['*'] },
    }),
    'SELECT count(*)::int FROM api_key WHERE user_id = $user OR organization_id = $organization',
  ],
  [
    'a project',
    ({ home }) => ({ path: '/api/projects/', key: home.owner.key, body: { name: 'P' } }),
    'SELECT count(*)::int FROM project WHERE organization_id = $organization',
  ],
  [
    'an organization',
    ({ home }) => ({ path: '/api/organizations/', session: home.owner.session, body: { name: 'O' } }),
    'SELECT count(*)::int FROM membership WHERE user_id = $user',
  ],
  [
    'an invite',
    ({ home }) => ({
      path: `/api/organizations/${home.organization.id}/invites/`,
      key: home.owner.key,
      body: { target_email: 'bodies@example.com' },
    }),
    'SELECT count(*)::int FROM invite WHERE organization_id = $organization',
  ],
  [
    'a service key',
    ({ home }) => ({
      path: `/api/organizations/${home.organization.id}/service_keys/`,
      key: home.owner.key,
      body: { label: 's', scopes: ['*'] },
    }),
    'SELECT count(*)::int FROM api_key WHERE organization_id = $organization',
  ],
  [
    'a domain',
    ({ home }) => ({
      path: `/api/organizations/${home.organization.id}/domains/`,
      key: home.owner.key,
      body: { domain: 'bodies.example.com' },
    }),
    'SELECT count(*)::int FROM domain WHERE organization_id = $organization',
  ],
  [
    'an app',
    ({ home }) => ({
      path: `/api/organizations/${home.organization.id}/plugins/`,
      key: home.owner.key,
      body: { name: 'A' },
    }),
    'SELECT count(*)::int FROM plugin WHERE organization_id = $organization',
  ],
  [
    'an export',
    ({ exports, home }) => ({
      path: exports,
      key: home.owner.key,
      body: { name: 'E', interval: 'hour', destination: { type: 'NoOp', config: {} } },
    }),
    'SELECT count(*)::int FROM batch_export WHERE project_id = $project',
  ],
  [
    'an account',
    () => ({
      path: '/api/signup/',
      body: { first_name: 'New', email: 'bodies-new@example.com', password: 'long-enough-to-be-strong-7291' },
    }),
    'SELECT count(*)::int FROM membership WHERE organization_id = $organization',
  ],
]

const made = attackEach<Scene, (typeof MADE)[number]>(
  'S14',
  MADE,
  ([what]) => `${what} in the name of somebody else`,
  async (scene, [, make, query]) => {
    const { call, target, victim } = scene
    const { path, body, ...who } = make(scene)
    const statement = query
      .replaceAll('$user', String(victim.owner.id))
      .replaceAll('$organization', `'${victim.organization.id}'`)
      .replaceAll('$project', String(victim.project.id))
    const before = (await target.db.pool.query(statement)).rows
    const forged = await call('POST', path, { ...who, body: { ...privileged(scene), ...body } })
    expect([201, 400]).toContain(forged.status)
    expect((await target.db.pool.query(statement)).rows).toEqual(before)
    const staff = await target.db.rows(
      sql`SELECT email FROM app_user WHERE is_staff AND email LIKE 'bodies-%'`,
    )
    expect(staff).toEqual([])
    if (forged.status === 400) expect((await call('POST', path, { ...who, body })).status).toBe(201)
  },
)

const FIELDS: [string, unknown][] = [
  ['is_staff', true],
  ['is_active', false],
  ['is_email_verified', true],
  ['uuid', '00000000-0000-4000-8000-000000000000'],
  ['id', 1],
  ['password_hash', 'x'],
  ['membership_level', 15],
  ['organization', { membership_level: 15 }],
]

const account = attackEach<Scene, (typeof FIELDS)[number]>(
  'S14',
  FIELDS,
  ([field]) => `one's own account changed by ${field}`,
  async ({ call, target, member }, [field, value]) => {
    const row = () => target.db.rows(sql`SELECT * FROM app_user WHERE id = ${member.id}`)
    const before = await row()
    const path = '/api/users/@me/'
    const reply = await call('PATCH', path, { session: member.session, body: { [field]: value } })
    expect([200, 400, 403]).toContain(reply.status)
    expect(await row()).toEqual(before)
    expect((await call('GET', path, { session: member.session })).status).toBe(200)
  },
)

const HEADERS = [
  'x-user-id',
  'x-forwarded-user',
  'remote-user',
  'x-posthog-user',
  'x-organization-id',
  'x-original-url',
  'x-http-method-override',
]

const headers = attackEach<Scene, string>(
  'S14',
  HEADERS,
  (header) => `a header ${header} in place of a credential`,
  async ({ call, victim, member }, header) => {
    const value = header === 'x-http-method-override' ? 'DELETE' : victim.owner.uuid
    expect((await call('GET', '/api/users/@me/', { headers: { [header]: value } })).status).toBe(401)
    const own = await call('GET', '/api/users/@me/', { key: member.key, headers: { [header]: value } })
    expect(own.body.uuid).toBe(member.uuid)
  },
)

const sites = attackEach<Scene, Record<string, string>>(
  'S14',
  [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ],
  (given) => `a session that another site sends along: ${JSON.stringify(given)}`,
  async ({ call, member }, given) => {
    const change = { session: member.session, body: { first_name: 'Forged' } }
    expect((await call('PATCH', '/api/users/@me/', { ...change, headers: given })).status).toBe(403)
    const own = { 'sec-fetch-site': 'same-origin' }
    expect((await call('PATCH', '/api/users/@me/', { ...change, headers: own })).status).toBe(200)
  },
)

const mixed = attack<Scene>(
  'S14',
  'a key and a session of two people at once',
  async ({ call, member, victim }) => {
    const { body } = await call('GET', '/api/users/@me/', { key: member.key, session: victim.owner.session })
    expect(body.uuid).toBe(member.uuid)
    const wrong = { key: 'phx_nobody', session: victim.owner.session }
    expect((await call('GET', '/api/users/@me/', wrong)).status).toBe(401)
  },
)

export const attacks: Attack<Scene>[] = [...made, ...account, ...headers, ...sites, mixed]
