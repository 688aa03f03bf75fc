// What the fuzz plays with: two organizations with one of everything, callers of every kind, and the ids of it all.
import { randomBytes } from 'node:crypto'
import { TOTP } from 'otpauth'
import { addBackfill, addLog, addRun } from '../../src/features/batch-exports/runs/fixture/rows.ts'
import { addVerification } from '../../src/features/batch-exports/verification/fixture/rows.ts'
import { readCode, storeFiles } from '../../src/features/plugins/code.ts'
import { insertFixturePlugin } from '../../src/features/plugins/fixture/plugins.ts'
import { newLinkToken } from '../../src/features/sign-in/link-tokens.ts'
import { openPendingSession, openSession } from '../../src/features/sign-in/sessions.ts'
import { uuid7 } from '../../src/lib/uuid.ts'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  createUser,
  type TestUser,
  type Workspace,
} from '../../test/factories.ts'
import type { TestApp } from '../../test/harness/app.ts'
import type { FuzzApp } from './app.ts'
import { firstEvents } from './events.ts'
import { CODE as PLUGIN_CODE } from './plugins.ts'

/** Ids by the name of the thing; answers add to them as the fuzz creates more. */
type Ids = Record<IdKind, string[]>
export type IdKind =
  | 'organization'
  | 'project'
  | 'user'
  | 'invite'
  | 'domain'
  | 'service_key'
  | 'personal_key'
  | 'event'
  | 'person'
  | 'batch_export'
  | 'run'
  | 'backfill'
  | 'verification'
  | 'plugin'
  | 'frontend_app'
  | 'plugin_config'
  | 'frontend_app_config'

/** One side of the game: its things, and the credentials that go with them. */
export type Side = {
  ids: Ids
  keys: string[]
  sessions: string[]
  /** Tokens of projects, with which events are sent. */
  tokens: string[]
}

export type World = {
  /** The first organization's own things and its owner: requests made of these mostly succeed. */
  home: Side
  /** Things of both organizations and callers of every kind: requests made of these mostly do not. */
  all: Side
  emails: string[]
  password: string
  /** Somebody who was mailed links, and the tokens in them. */
  linked: { uuid: string; tokens: string[] }
  /** Sessions that still wait for their second factor. */
  pending: string[]
  /** Secrets of authenticator apps, set up or about to be; the first is of somebody who signs in with it. */
  totp_secrets: string[]
  /** A name that is free on the whole instance. */
  unique(): string
}

const MAX_IDS = 60
const OWNER_SESSIONS = 6

export async function makeWorld(fuzzApp: FuzzApp): Promise<World> {
  // The factories use no more of the harness's application than every application of the fuzz has.
  const app = fuzzApp as TestApp
  const home = await createOrganization(app)
  const foreign = await createOrganization(app)
  const admin = await createMember(app, home.organization, { level: 'admin' })
  const member = await createMember(app, home.organization)
  const staff = await createMember(app, home.organization, { level: 'admin', is_staff: true })
  const guarded = await createMember(app, home.organization)
  const loner = await createUser(app)
  const users = [home.owner, foreign.owner, admin, member, loner, staff, guarded]
  const world: World = {
    home: { ids: noIds(), keys: [home.owner.key], sessions: [], tokens: [home.project.api_token] },
    all: {
      ids: noIds(),
      keys: users.map((user) => user.key),
      sessions: users.map((user) => user.session),
      tokens: [home.project.api_token, foreign.project.api_token],
    },
    emails: users.map((user) => user.email),
    password: home.owner.password,
    linked: { uuid: loner.uuid, tokens: linkTokens(app, loner) },
    pending: [await addPendingSession(app, guarded)],
    totp_secrets: [await addSecondFactor(app, guarded)],
    unique: () => randomBytes(6).toString('hex'),
  }
  world.all.keys.push(...(await limitedKeys(app, home, foreign, admin)))
  world.all.sessions.push(await addSession(app, home.owner, 3 * 3_600_000))
  for (let count = 0; count < OWNER_SESSIONS; count++)
    world.home.sessions.push(await addSession(app, home.owner, 0))
  world.home.ids = await makeThings(app, world, home, [home.owner, admin, member, staff, guarded])
  const theirs = await makeThings(app, world, foreign, [foreign.owner, loner])
  for (const kind of Object.keys(theirs) as IdKind[])
    world.all.ids[kind].push(...world.home.ids[kind], ...theirs[kind])
  return world
}

function noIds(): Ids {
  return {
    organization: [],
    project: [],
    user: [],
    invite: [],
    domain: [],
    service_key: [],
    personal_key: [],
    event: [],
    person: [],
    batch_export: [],
    run: [],
    backfill: [],
    verification: [],
    plugin: [],
    frontend_app: [],
    plugin_config: [],
    frontend_app_config: [],
  }
}

async function addSession(app: TestApp, user: TestUser, age_ms: number): Promise<string> {
  const session = await openSession(app.db, user.id, false, new Date(Date.now() - age_ms))
  return app.canary.plant('session token', session!.token)
}

async function addPendingSession(app: TestApp, user: TestUser): Promise<string> {
  const session = await openPendingSession(app.db, user.id, app.services.now())
  return app.canary.plant('session token', session!.token)
}

function linkTokens({ services }: TestApp, user: TestUser): string[] {
  const now = services.now()
  return [
    newLinkToken(services, 'password reset', user, now),
    newLinkToken(services, 'e-mail verification', user, now),
  ]
}

async function limitedKeys(
  app: TestApp,
  home: Workspace,
  foreign: Workspace,
  admin: TestUser,
): Promise<string[]> {
  const [here, there] = [home.organization.id, foreign.organization.id]
  return [
    await createKey(app, home.owner, {
      scopes: ['organization:read', 'organization_member:read', 'project:read'],
    }),
    await createKey(app, home.owner, {
      scopes: ['organization:write', 'organization_member:write', 'project:write'],
    }),
    await createKey(app, home.owner, { scopes: ['*'], scoped_organizations: [here] }),
    await createKey(app, home.owner, { scopes: ['*'], scoped_organizations: [there] }),
    await createKey(app, admin, { scopes: ['*'], scoped_teams: [home.project.id] }),
    await createServiceKey(app, home.organization, { scopes: ['*'] }),
    await createServiceKey(app, home.organization, {
      scopes: ['*'],
      level: 'member',
      scoped_teams: [home.project.id],
    }),
    await createServiceKey(app, foreign.organization, { scopes: ['organization:read', 'activity_log:read'] }),
  ]
}

async function makeThings(app: TestApp, world: World, workspace: Workspace, users: TestUser[]): Promise<Ids> {
  const { organization, project, owner } = workspace
  const post = async (url: string, payload: object) => {
    const response = await app.http.inject({
      method: 'POST',
      url,
      payload,
      headers: { cookie: `sessionid=${owner.session}` },
    })
    return response.json<{ id: string }>().id
  }
  const below = `/api/organizations/${organization.id}`
  const key = { label: 'one', scopes: ['organization:read'] }
  return {
    organization: [organization.id],
    project: [String(project.id)],
    user: users.map((user) => user.uuid),
    invite: [
      await post(`${below}/invites/`, { target_email: `${world.unique()}@example.com`, send_email: false }),
    ],
    domain: [await post(`${below}/domains/`, { domain: `${world.unique()}.example.com` })],
    service_key: [await post(`${below}/service_keys/`, key)],
    personal_key: [await post('/api/personal_api_keys/', key)],
    event: await captureFirst(app, workspace),
    person: await personIds(app, workspace),
    ...(await addRuns(app, project.id, await post(`/api/projects/${project.id}/batch_exports/`, EXPORT))),
    ...(await addPlugins(app, workspace, post)),
  }
}

const PLUGINS = 8

/** Half are frontend apps, half belong to all other families; each has a config. */
async function addPlugins(
  { db, services }: TestApp,
  { organization, project }: Workspace,
  post: (url: string, payload: object) => Promise<string>,
) {
  const ids = { plugin: [], frontend_app: [], plugin_config: [], frontend_app_config: [] } as Pick<
    Ids,
    'plugin' | 'frontend_app' | 'plugin_config' | 'frontend_app_config'
  >
  const configs = `/api/projects/${project.id}/plugin_configs/`
  const { files } = await readCode(services.sandbox, new Map([['index.ts', PLUGIN_CODE]]))
  const common = { organization_id: organization.id, public_jobs: { sync: { payload: {} } } }
  for (let index = 0; index < PLUGINS; index++) {
    const plugin = await insertFixturePlugin(db, { ...common, capabilities: PLUGIN_OFFERS })
    await storeFiles(db, plugin, [], files, services.now())
    const frontend_app = await insertFixturePlugin(db, common)
    ids.plugin.push(String(plugin))
    ids.frontend_app.push(String(frontend_app))
    ids.plugin_config.push(String(await post(configs, { plugin })))
    ids.frontend_app_config.push(String(await post(configs, { plugin: frontend_app })))
  }
  return ids
}

const PLUGIN_OFFERS = {
  methods: ['onEvent', 'processEvent'],
  scheduled_tasks: ['runEveryDay'],
  jobs: ['sync'],
}

const EXPORT = { name: 'First', interval: 'hour', destination: { type: 'File', config: {} } }
const LIVE_RUNS = 12
const LIVE_BACKFILLS = 3

/** Under way, so that they can be stopped; nobody works on them. */
async function addRuns({ db, services }: TestApp, project_id: number, id: string) {
  const now = services.now()
  const owner = { id, project_id }
  const runs: string[] = []
  for (let index = 0; index <= LIVE_RUNS; index++) {
    const data_interval_end = new Date(now.getTime() - index * 3_600_000)
    const status = index === 0 ? 'Failed' : 'Running'
    runs.push((await addRun(db, owner, now, { status, data_interval_end })).id)
  }
  const backfills: string[] = []
  for (let index = 0; index < LIVE_BACKFILLS; index++) backfills.push((await addBackfill(db, owner, now)).id)
  await addLog(db, owner, { run_id: runs[0]!, timestamp: now, message: 'Run started.' })
  const verification = [await addVerification(db, owner, now)]
  return { batch_export: [id], run: runs, backfill: backfills, verification }
}

/** Sends events as clients do; returns their ids. */
async function captureFirst({ http, services }: TestApp, { project }: Workspace): Promise<string[]> {
  const now = services.now()
  const batch = firstEvents(now, () => uuid7(now))
  const payload = { api_key: project.api_token, batch }
  const { statusCode, body } = await http.inject({ method: 'POST', url: '/batch/', payload })
  if (statusCode !== 200) throw new Error(`the first events were answered with ${statusCode}: ${body}`)
  return batch.map(({ uuid }) => String(uuid))
}

/** Both kinds of id that a person has. */
async function personIds({ http }: TestApp, { project, owner }: Workspace): Promise<string[]> {
  const url = `/api/projects/${project.id}/persons/`
  const response = await http.inject({ url, headers: { cookie: `sessionid=${owner.session}` } })
  const { results } = response.json<{ results: { id: number; uuid: string }[] }>()
  return results.flatMap(({ id, uuid }) => [String(id), uuid])
}

/** Set up through the API as a person would, so that a sign-in of this user waits for a second factor. */
async function addSecondFactor(app: TestApp, user: TestUser): Promise<string> {
  const cookie = `sessionid=${user.session}`
  const start = await app.http.inject({ url: '/api/users/@me/start_2fa_setup/', headers: { cookie } })
  const { secret } = start.json<{ secret: string }>()
  const payload = { token: new TOTP({ secret }).generate() }
  await app.http.inject({ method: 'POST', url: '/api/users/@me/validate_2fa/', headers: { cookie }, payload })
  return secret
}

const LEARNED: [path: RegExp, kind: IdKind][] = [
  [/\/batch_exports\//, 'batch_export'],
  [/\/invites\//, 'invite'],
  [/\/domains\//, 'domain'],
  [/\/service_keys\//, 'service_key'],
  [/\/personal_api_keys\//, 'personal_key'],
  [/\/projects\//, 'project'],
  [/^\/api\/organizations\/?(\?|$)/, 'organization'],
]

/** What an answer brought joins the game: things that were made, sessions that were opened, secrets that were shown. */
export function learn(
  world: World,
  side: Side,
  url: string,
  status: number,
  body: unknown,
  session: string | undefined,
): void {
  const { id, secret, api_token, backfill_id } = (body ?? {}) as Record<string, unknown>
  const kind = LEARNED.find(([path]) => path.test(url))?.[1]
  if (status === 201 && kind && (typeof id === 'string' || typeof id === 'number'))
    remember(side.ids[kind], String(id))
  if (typeof api_token === 'string') rememberToken(world, String(id), api_token)
  const isOfFirstExport = url.includes(`/batch_exports/${world.home.ids.batch_export[0]!}/`)
  if (isOfFirstExport && typeof backfill_id === 'string') remember(side.ids.backfill, backfill_id)
  if (typeof secret === 'string') remember(world.totp_secrets, secret)
  if (session) remember(status === 401 ? world.pending : world.all.sessions, session)
}

/** The token of home's first project is the one that good events are sent with, whoever changed it. */
function rememberToken({ home, all }: World, project: string, token: string): void {
  if (project === home.ids.project[0]) home.tokens = [token]
  if (!all.tokens.includes(token)) remember(all.tokens, token)
}

/** The newest push the older ones out; the first, made with the world, stay. */
function remember(list: string[], value: string): void {
  list.push(value)
  if (list.length > MAX_IDS) list.splice(MAX_IDS / 2, 1)
}
