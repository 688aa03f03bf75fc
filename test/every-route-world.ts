// Two organizations with one of everything in each, and callers of every kind: what test/every-route.test.ts sends
// every route against.
import { randomBytes } from 'node:crypto'
import { insertKey } from '../src/features/api-keys/queries.ts'
import { newPersonalKey } from '../src/features/api-keys/key-value.ts'
import { addBackfill, addRun } from '../src/features/batch-exports/runs/fixture/rows.ts'
import { addVerification } from '../src/features/batch-exports/verification/fixture/rows.ts'
import { writeEvents, writeProperties } from '../src/features/definitions/write-queries.ts'
import { makeCertificate } from '../src/features/domains/fixture/certificate.ts'
import { insertDomain, updateDomain } from '../src/features/domains/queries.ts'
import { insertMembership } from '../src/features/members/queries.ts'
import { personUuid } from '../src/features/persons/rules.ts'
import { CONFIG_BASES } from '../src/features/plugins/configs/paths.ts'
import { FAMILIES } from '../src/features/plugins/families.ts'
import { configure, insertFixturePlugin } from '../src/features/plugins/fixture/plugins.ts'
import { writeFile } from '../src/features/plugins/file-queries.ts'
import { insertGroup } from '../src/features/scim/group-queries.ts'
import { insertIdentity } from '../src/features/identities/queries.ts'
import { recordSignIn } from '../src/features/sign-in/provider/records.ts'
import { listSessions, openSession } from '../src/features/sign-in/sessions.ts'
import { uuid7 } from '../src/lib/uuid.ts'
import { LEVELS, type LevelName } from '../src/platform/http/caller.ts'
import type { Route } from '../src/platform/http/route.ts'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  createUser,
  secretOf,
  type Maker,
  type TestUser,
  type Workspace,
} from './factories.ts'
import type { TestApp } from './harness/app.ts'
import { metadataOf } from './stand-ins/identity-provider.ts'

/** Makes rows, and calls the API. */
export type WorldMaker = Maker & Pick<TestApp, 'post'>

export const NO_ID = '00000000-0000-7000-8000-000000000000'
export const NO_PROJECT = 2_000_000_000
export const OLD_SESSION_MS = 2 * 3_600_000 + 60_000

/** One organization, and who belongs to it. */
export type Home = Record<LevelName, TestUser> & {
  home: Workspace
  /** The id of the thing that a path's last parameter names, in an organization of this world. */
  children(path: string, workspace: Workspace): string
  /** A child that this user may do the route to. */
  childFor(route: Route, user: TestUser): string
}

export type World = Home & {
  foreign: Workspace
  /** Somebody who belongs nowhere. */
  loner: TestUser
  /** An owner of both organizations: only the path can tell them what belongs where. */
  ownerOfBoth: TestUser
  /** The owner's key, limited to the foreign organization or project. */
  keyOfOtherOrganization: string
  keyOfOtherProject: string
  foreignServiceKey: string
}

const unique = () => randomBytes(5).toString('hex')
const PASSWORD = 'long-enough-to-be-strong-7291'

const EXPORT = () => ({ name: 'Made', interval: 'hour', destination: { type: 'File', config: {} } })
const BACKFILL = () => ({ start_at: '2024-01-01T00:00:00Z', end_at: '2024-01-02T00:00:00Z' })
const EXPORT_BODIES: Record<string, () => unknown> = {
  'POST batch_exports/': EXPORT,
  'PUT batch_exports/:id/': EXPORT,
  'PATCH batch_exports/:id/': () => ({ name: 'Changed' }),
  'POST batch_exports/:id/pause/': () => ({}),
  'POST batch_exports/:id/unpause/': () => ({}),
  'POST batch_exports/:id/backfill/': BACKFILL,
  'POST batch_exports/:batch_export_id/backfills/': BACKFILL,
  'POST batch_exports/:batch_export_id/backfills/estimate/': BACKFILL,
  'POST batch_exports/:id/repair/': BACKFILL,
  'POST batch_exports/:batch_export_id/verify/': () => ({}),
  'POST batch_exports/run_test_step_new/': EXPORT,
  'POST batch_exports/preview/': EXPORT,
  'POST batch_exports/:id/run_test_step/': () => ({}),
}
const EXPORT_BASES = [
  '/api/projects/:project_id/',
  '/api/environments/:project_id/',
  '/api/organizations/:organization_id/',
]

const AGENT_BODIES: Record<string, () => unknown> = {
  'POST /mcp_tools/execute_sql/': () => ({ args: { query: 'select 1' } }),
  'POST /mcp_tools/read_taxonomy/': () => ({ args: { query: { kind: 'events' } } }),
  'POST /query/check/': () => ({ query: { kind: 'HogQLQuery', query: 'select 1' } }),
  'PATCH /event_definitions/:id/': () => ({ description: 'Changed' }),
  'PATCH /property_definitions/:id/': () => ({ description: 'Changed' }),
}

const PLUGIN_BODIES: Record<string, () => unknown> = {
  'POST /': () => ({ name: 'Made' }),
  'PATCH /:id/': () => ({ name: 'Changed' }),
  'PATCH /:id/update_source/': () => ({ 'notes.md': 'Changed' }),
  'POST /:id/test/': () => ({ event: { event: 'seen' } }),
}
const CONFIG_BODIES: Record<string, (world: Home, path: string) => unknown> = {
  'POST /': (world, path) => ({
    plugin: world.children(isFrontend(path) ? FRONTEND_PLUGIN : PLUGIN, world.home),
  }),
  'PATCH /rearrange/': () => ({ orders: {} }),
  'PATCH /:id/': () => ({ name: 'Changed' }),
  'POST /:id/job/': () => ({ job: { type: 'sync', payload: {} } }),
}
const PLUGIN = '/plugins/:id/'
const FRONTEND_PLUGIN = '/pipeline_frontend_apps/:id/'
const isFrontend = (path: string) => path.includes('/pipeline_frontend_apps')

/** A body that would do its work, were the caller let through. */
export const GOOD_BODIES: Record<string, (world: Home, path: string) => unknown> = {
  ...belowEach(
    PLUGIN_BODIES,
    FAMILIES.map((family) => `/api/organizations/:organization_id/${family}`),
  ),
  ...belowEach(
    CONFIG_BODIES,
    CONFIG_BASES.map(({ base }) => base),
  ),
  ...belowEach(AGENT_BODIES, ['/api/projects/:project_id', '/api/environments/:project_id']),
  ...Object.fromEntries(
    Object.entries(EXPORT_BODIES).flatMap(([name, body]) =>
      EXPORT_BASES.map((base) => [name.replace(' ', ` ${base}`), body]),
    ),
  ),
  'POST /api/organizations/': () => ({ name: 'Made' }),
  'PATCH /api/organizations/:id/': () => ({ name: 'Changed' }),
  'PATCH /api/organizations/:organization_id/members/:user__uuid/': () => ({ level: 8 }),
  'POST /api/organizations/:organization_id/invites/': () => ({ target_email: `${unique()}@example.com` }),
  'POST /api/organizations/:organization_id/invites/bulk/': () => [
    { target_email: `${unique()}@example.com` },
  ],
  'POST /api/organizations/:organization_id/domains/': () => ({ domain: `${unique()}.example.com` }),
  'PATCH /api/organizations/:organization_id/domains/:id/': () => ({
    saml_entity_id: 'https://idp.example.com',
  }),
  'POST /api/organizations/:organization_id/domains/:domain_id/scim/': () => ({ scim_enabled: true }),
  'PATCH /api/organizations/:organization_id/domains/:domain_id/scim/groups/:id/': () => ({ level: 8 }),
  'POST /api/organizations/:organization_id/roles/': () => ({ name: `Role ${unique()}` }),
  'PATCH /api/organizations/:organization_id/roles/:id/': () => ({ name: `Role ${unique()}` }),
  'POST /api/organizations/:organization_id/roles/:role_id/role_memberships/': ({ admin }) => ({
    user_uuid: admin.uuid,
  }),
  ...belowEach({ 'PUT /': () => ({ access_level: 'member' }) }, [
    '/api/projects/:id/access_controls',
    '/api/environments/:id/access_controls',
    '/api/organizations/:organization_id/projects/:id/access_controls',
  ]),
  ...Object.fromEntries(
    ['projects', 'environments'].flatMap((name) => [
      [`POST /api/${name}/:project_id/annotations/`, () => ({ content: 'Made' })],
      [`PATCH /api/${name}/:project_id/annotations/:id/`, () => ({ content: 'Changed' })],
    ]),
  ),
  'POST /api/projects/': () => ({ name: 'Made' }),
  'PATCH /api/projects/:id/': () => ({ name: 'Changed' }),
  'POST /api/environments/': () => ({ name: 'Made' }),
  'PATCH /api/environments/:id/': () => ({ name: 'Changed' }),
  'POST /api/organizations/:organization_id/projects/': () => ({ name: 'Made' }),
  'PATCH /api/organizations/:organization_id/projects/:id/': () => ({ name: 'Changed' }),
  'POST /api/projects/:project_id/query/': () => ({ query: { kind: 'HogQLQuery', query: 'select 1' } }),
  'POST /api/environments/:project_id/query/': () => ({ query: { kind: 'HogQLQuery', query: 'select 1' } }),
  'POST /api/organizations/:organization_id/service_keys/': () => ({ label: 'made', scopes: ['*'] }),
  'PATCH /api/organizations/:organization_id/service_keys/:id/': () => ({ label: 'changed' }),
  'PATCH /api/users/:uuid/': () => ({ first_name: 'Changed' }),
  'POST /api/users/:uuid/validate_2fa/': () => ({ token: '000000' }),
  'POST /api/users/:uuid/two_factor_validate/': () => ({ token: '000000' }),
  'POST /api/personal_api_keys/': () => ({ label: 'made', scopes: ['*'] }),
  'PATCH /api/personal_api_keys/:id/': () => ({ label: 'changed' }),
  'POST /api/signup/': () => ({ first_name: 'New', email: `${unique()}@example.com`, password: PASSWORD }),
  'POST /api/signup/:invite_id/': () => ({ first_name: 'New', password: PASSWORD }),
  'POST /api/login/precheck/': () => ({ email: `${unique()}@example.com` }),
  'POST /api/login/': () => ({ email: `${unique()}@example.com`, password: PASSWORD }),
  'POST /api/login/token/': () => ({ token: '000000' }),
  'POST /api/login/confirm/': () => ({ password: PASSWORD }),
  'POST /api/login/link/': () => ({ link: 'nonsense', password: PASSWORD }),
  'POST /api/login/recovery/': () => ({ email: `${unique()}@example.com` }),
  'POST /api/login/recovery/:user_uuid/': () => ({ token: 'nonsense' }),
  'POST /api/organizations/:organization_id/domains/:id/test_sso/': () => ({}),
  'POST /api/organizations/:organization_id/domains/:id/saml_metadata/': () => ({
    xml: metadataOf({ entity_id: 'idp', sso_url: 'https://idp.example.com', certificate: makeCertificate() }),
  }),
  'POST /complete/saml/': () => ({ SAMLResponse: 'nonsense' }),
  'POST /api/reset/': () => ({ email: `${unique()}@example.com` }),
  'POST /api/reset/:user_uuid/': () => ({ token: 'nonsense', password: PASSWORD }),
  'POST /api/users/:uuid/verify_email/': () => ({ token: 'nonsense' }),
  'POST /api/users/verify_email/': () => ({ uuid: unique(), token: 'nonsense' }),
  'POST /api/users/request_email_verification/': () => ({ uuid: unique() }),
  'POST /api/users/:uuid/undo_email_change/': () => ({ token: 'nonsense' }),
}

/** `POST /` below each base: `POST <base>/`. */
function belowEach<Body>(bodies: Record<string, Body>, bases: readonly string[]): Record<string, Body> {
  return Object.fromEntries(
    Object.entries(bodies).flatMap(([name, body]) =>
      bases.map((base) => [name.replace(' ', ` ${base}`), body] as const),
    ),
  )
}

type Things = {
  role: string
  role_membership: string
  annotation: string
  member: string
  invite: string
  invite_secret: string
  domain: string
  directory: string
  directory_group: string
  sign_in: string
  identity: string
  service_key: string
  personal_key: string
  user: string
  session: string
  person: string
  event: string
  event_definition: string
  property_definition: string
  query: string
  batch_export: string
  run: string
  backfill: string
  verification: string
  plugin: string
  frontend_app: string
  plugin_config: string
  frontend_app_config: string
}

export async function makeHome(app: WorldMaker, options: { enforce_2fa?: boolean } = {}): Promise<Home> {
  const home = await createOrganization(app, options)
  const admin = await createMember(app, home.organization, { level: 'admin' })
  const member = await createMember(app, home.organization)
  const things = await makeThings(app, home, member)
  const own = { owner: home.owner, admin, member }
  const ownKeys = new Map<TestUser, string>()
  for (const user of Object.values(own)) ownKeys.set(user, await addKey(app, user))
  const ownInvite = (await invite(app, home, member.key)).id
  return {
    home,
    ...own,
    children: (path) => pick(path, things),
    childFor(route, user) {
      if (route.path.startsWith('/api/personal_api_keys/')) return ownKeys.get(user)!
      if (route.method === 'DELETE' && route.path.includes('/members/')) return user.uuid
      if (route.path.includes('/invites/:id/')) return ownInvite
      return route.subject ? '' : childOrNone(route.path, things)
    },
  }
}

export type ClosedHome = Home & { memberByRole: TestUser; serviceKey: string }

/** A home whose project is private: its member has no access, another one has it by a role. */
export async function makeClosedHome(app: WorldMaker & Pick<TestApp, 'call'>): Promise<ClosedHome> {
  const own = await makeHome(app)
  const { organization, project, owner } = own.home
  const memberByRole = await createMember(app, organization)
  const roles = `/api/organizations/${organization.id}/roles/`
  const as = { key: owner.key }
  const role: string = (await app.post(roles, { name: 'Analysts' }, as)).body.id
  await app.post(`${roles}${role}/role_memberships/`, { user_uuid: memberByRole.uuid }, as)
  const controls = `/api/projects/${project.id}/access_controls/`
  for (const body of [{ access_level: 'none' }, { access_level: 'member', role }]) {
    await app.call('PUT', controls, { ...as, body })
  }
  return {
    ...own,
    memberByRole,
    serviceKey: await createServiceKey(app, organization, { scopes: ['*'], level: 'member' }),
  }
}

export async function makeWorld(app: WorldMaker, options: { enforce_2fa?: boolean } = {}): Promise<World> {
  const own = await makeHome(app, options)
  const { home } = own
  const foreign = await createOrganization(app)
  const ownerOfBoth = await createMember(app, home.organization, { level: 'owner' })
  await insertMembership(app.db, foreign.organization.id, ownerOfBoth.id, LEVELS.owner, app.services.now())
  const theirs = await makeThings(app, foreign, await createMember(app, foreign.organization))
  return {
    ...own,
    foreign,
    loner: await createUser(app),
    ownerOfBoth,
    keyOfOtherOrganization: await createKey(app, home.owner, {
      scopes: ['*'],
      scoped_organizations: [foreign.organization.id],
    }),
    keyOfOtherProject: await createKey(app, home.owner, {
      scopes: ['*'],
      scoped_teams: [foreign.project.id],
    }),
    foreignServiceKey: await createServiceKey(app, foreign.organization, { scopes: ['*'] }),
    children: (path, workspace) =>
      workspace === foreign ? pick(path, theirs) : own.children(path, workspace),
  }
}

async function makeThings(app: WorldMaker, workspace: Workspace, member: TestUser): Promise<Things> {
  const below = `/api/organizations/${workspace.organization.id}`
  const { key } = workspace.owner
  const domain = await app.post(`${below}/domains/`, { domain: `${unique()}.example.com` }, { key })
  const serviceKey = await app.post(
    `${below}/service_keys/`,
    { label: 'one', scopes: ['organization:read'] },
    { key },
  )
  app.canary.plant('service key', serviceKey.body.value)
  const made = await invite(app, workspace, key)
  const annotation = await app.post(`/api/projects/${workspace.project.id}/annotations/`, {}, { key })
  return {
    annotation: String(annotation.body.id),
    member: member.uuid,
    invite: made.id,
    invite_secret: made.secret,
    domain: domain.body.id,
    ...(await makeDirectory(app, workspace)),
    sign_in: await addSignIn(app, domain.body.id),
    identity: await addIdentity(app, workspace.owner),
    service_key: serviceKey.body.id,
    ...(await makeRole(app, workspace, member)),
    personal_key: await addKey(app, workspace.owner),
    user: '@me',
    session: await addSession(app, workspace.owner),
    person: personUuid(workspace.project.id, 'somebody'),
    event: await captureEvent(app, workspace),
    ...(await makeDefinitions(app, workspace)),
    query: NO_ID,
    ...(await makeExport(app, workspace)),
    ...(await makePlugins(app, workspace)),
  }
}

/** A verified domain, whose directory has a group. */
async function makeDirectory(app: WorldMaker, { organization }: Workspace) {
  const now = app.services.now()
  const challenge = randomBytes(16).toString('hex')
  const { id } = await insertDomain(
    app.db,
    organization.id,
    { id: uuid7(now), domain: `${unique()}.example.com` },
    challenge,
    now,
  )
  const domain = await updateDomain(app.db, organization.id, id, { verified_at: now }, now)
  const group = await insertGroup(app.db, domain, { display_name: 'Analysts', external_id: null }, now)
  return { directory: domain.id, directory_group: group.id }
}

async function makeRole(app: WorldMaker, { organization, owner }: Workspace, member: TestUser) {
  const url = `/api/organizations/${organization.id}/roles/`
  const role: string = (await app.post(url, { name: 'Testers' }, { key: owner.key })).body.id
  const given = { user_uuid: member.uuid }
  const { body } = await app.post(`${url}${role}/role_memberships/`, given, { key: owner.key })
  return { role, role_membership: body.id as string }
}

/** One that is in every family but that of frontend apps, and one that is in that; each with a config. */
async function makePlugins(app: WorldMaker, { organization, project, owner }: Workspace) {
  const organization_id = organization.id
  const public_jobs = { sync: { payload: {} } }
  const plugin = await insertFixturePlugin(app.db, {
    organization_id,
    public_jobs,
    capabilities: { methods: ['onEvent', 'processEvent'], scheduled_tasks: ['runEveryDay'], jobs: ['sync'] },
  })
  const transpiled =
    'exports.processEvent = (event) => event; exports.onEvent = exports.runEveryDay = () => {}'
  const code = { source: '', transpiled, mappings: null, error: null }
  await writeFile(app.db, plugin, { filename: 'index.ts', status: 'TRANSPILED', ...code }, app.services.now())
  const frontend_app = await insertFixturePlugin(app.db, { organization_id, public_jobs })
  const ofPlugin = { plugin, enabled: false }
  const ofFrontendApp = { plugin: frontend_app, enabled: false }
  return {
    plugin: String(plugin),
    frontend_app: String(frontend_app),
    plugin_config: String(await configure(app, project.id, owner.key, ofPlugin)),
    frontend_app_config: String(await configure(app, project.id, owner.key, ofFrontendApp)),
  }
}

/** With a run and a backfill that are under way, and a verification. */
async function makeExport(app: WorldMaker, { project, owner }: Workspace) {
  const url = `/api/projects/${project.id}/batch_exports/`
  const batch_export: string = (await app.post(url, EXPORT(), { key: owner.key })).body.id
  const owned = { id: batch_export, project_id: project.id }
  const now = app.services.now()
  const backfill = await addBackfill(app.db, owned, now)
  const run = await addRun(app.db, owned, now, { status: 'Starting' })
  const verification = await addVerification(app.db, owned, now)
  return { batch_export, run: run.id, backfill: backfill.id, verification }
}

async function captureEvent(app: WorldMaker, { project }: Workspace): Promise<string> {
  const uuid = uuid7(app.services.now())
  await app.post('/capture/', { api_key: project.api_token, event: 'seen', distinct_id: 'somebody', uuid })
  return uuid
}

async function makeDefinitions(app: WorldMaker, { project }: Workspace) {
  const now = app.services.now()
  const [event_definition, property_definition] = [uuid7(now), uuid7(now)]
  const place = { project_id: project.id, type: 'event', group_type_index: -1 } as const
  await writeProperties(
    app.db,
    [{ ...place, id: property_definition, name: 'color', property_type: 'String' }],
    now,
  )
  await writeEvents(
    app.db,
    [{ project_id: project.id, id: event_definition, name: 'seen', properties: ['color'] }],
    now,
  )
  return { event_definition, property_definition }
}

async function invite(app: WorldMaker, workspace: Workspace, key: string) {
  const url = `/api/organizations/${workspace.organization.id}/invites/`
  const { body } = await app.post(url, { target_email: `${unique()}@example.com` }, { key })
  return { id: body.id as string, secret: secretOf(body) }
}

async function addKey(app: WorldMaker, user: TestUser): Promise<string> {
  const fields = { label: 'one', scopes: ['organization:read'] }
  return (
    await insertKey(app.db, { user_id: user.id }, fields, newPersonalKey(), user.id, app.services.now())
  ).id
}

/** A way in through a provider. */
async function addIdentity(app: WorldMaker, user: TestUser): Promise<string> {
  const vouched = {
    provider: 'github' as const,
    issuer: 'https://github.com',
    subject: unique(),
    email: user.email,
    is_email_vouched: true,
    first_name: '',
    last_name: '',
    domain_id: null,
  }
  return (await insertIdentity(app.db, user.id, vouched, app.services.now())).id
}

/** One that was refused. */
function addSignIn(app: WorldMaker, domain_id: string): Promise<string> {
  const record = {
    domain_id,
    provider: 'saml' as const,
    purpose: 'sign-in' as const,
    outcome: 'no_email' as const,
    user_id: null,
    email: null,
    ip: '127.0.0.1',
    checks: [],
    received: {},
  }
  return recordSignIn(app.db, record, app.services.now())
}

/** Another signed-in browser. */
async function addSession(app: WorldMaker, user: TestUser): Promise<string> {
  const now = app.services.now()
  app.canary.plant('session token', (await openSession(app.db, user.id, false, now))!.token)
  return (await listSessions(app.db, user.id, { limit: 100, offset: 0 }, now)).at(-1)!.id
}

const KINDS: [RegExp, keyof Things][] = [
  [/\/role_memberships\/:id\//, 'role_membership'],
  [/\/roles\/:(?:id|role_id)\//, 'role'],
  [/\/pipeline_frontend_apps_configs\/:id\//, 'frontend_app_config'],
  [/_configs?\/:id\/|\/app_metrics\/:plugin_config_id\//, 'plugin_config'],
  [/\/pipeline_frontend_apps\/:id\//, 'frontend_app'],
  [/\/(?:plugins|pipeline_[a-z_]+)\/:id\//, 'plugin'],
  [/\/runs\/:(?:id|run_id)\//, 'run'],
  [/\/backfills\/:id\//, 'backfill'],
  [/\/verifications\/:id\//, 'verification'],
  [/\/batch_exports\/:(?:id|batch_export_id)\//, 'batch_export'],
  [/\/members\/:user__uuid\//, 'member'],
  [/\/invites\/:id\//, 'invite'],
  [/\/signup\/:invite_id\//, 'invite_secret'],
  [/\/scim\/groups\/:id\//, 'directory_group'],
  [/\/domains\/:domain_id\/scim\//, 'directory'],
  [/\/sign_ins\/:id\//, 'sign_in'],
  [/\/domains\/:domain_id\/keys\/:id\//, 'personal_key'],
  [/\/(?:domains|saml\/metadata)\/:(?:id|domain_id)\/|\/complete\/oidc\/:domain_id\//, 'domain'],
  [/\/service_keys\/:id\//, 'service_key'],
  [/\/personal_api_keys\/:id\//, 'personal_key'],
  [/\/event_definitions\/:id\//, 'event_definition'],
  [/\/property_definitions\/:id\//, 'property_definition'],
  [/\/annotations\/:id\//, 'annotation'],
  [/\/persons\/:id\//, 'person'],
  [/\/events\/:id\//, 'event'],
  [/\/query\/:id\//, 'query'],
  [/\/sessions\/:id\//, 'session'],
  [/\/identities\/:id\//, 'identity'],
  [/\/users\/:uuid\/|\/(?:reset|recovery)\/:user_uuid\//, 'user'],
]

function pick(path: string, things: Things): string {
  const kind = KINDS.find(([pattern]) => pattern.test(path))?.[1]
  if (!kind) throw new Error(`tell test/every-route-world.ts what the last id of ${path} names`)
  return things[kind]
}

function childOrNone(path: string, things: Things): string {
  return /:(?!organization_id|project_id)[a-z_]+/.test(path) ? pick(path, things) : ''
}
