// Every route against the rule it declares: who is refused, with what, and that a refusal writes nothing. A new route is
// covered by being in the list; one without a rule, or of a kind this file does not know yet, fails here.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../src/app/http.ts'
import { CONFIG_BASES } from '../src/features/plugins/configs/paths.ts'
import { openSession } from '../src/features/sign-in/sessions.ts'
import { LEVELS, type LevelName } from '../src/platform/http/caller.ts'
import type { Route } from '../src/platform/http/route.ts'
import { hasScope, SCOPE_OBJECTS, type Scope } from '../src/platform/http/scopes.ts'
import {
  GOOD_BODIES,
  makeClosedHome,
  makeHome,
  makeWorld,
  NO_ID,
  NO_PROJECT,
  OLD_SESSION_MS,
  type ClosedHome,
  type Home,
  type World,
} from './every-route-world.ts'
import { createKey, type TestUser } from './factories.ts'
import { startTestApp, type Call, type TestApp } from './harness/app.ts'
import { IS_LONG } from './harness/long.ts'
import { hashTables } from './harness/tables.ts'

const nameOf = (route: Route) => `${route.method} ${route.path}`
const scopesOf = (route: Route): readonly Scope[] => [route.scope ?? []].flat()
const isOpen = (route: Route) => route.access === 'anyone'
const isUnsafe = (route: Route) => route.method !== 'GET'
/** Queries are sent by POST because they may be too long for a URL. */
const isQuestion = (route: Route) => /\/query\/|\/estimate\/|\/mcp_tools\//.test(route.path)
/** Making a world for each of them takes minutes: there are many, and none takes away what another needs. */
const leavesThings = (route: Route) =>
  /\/plugins\/|\/pipeline_|\/plugin_config/.test(route.path) && route.method !== 'DELETE'
/** The thing above the child, as the export is to its runs; and a path whose last id is that thing. */
const PARENTS = {
  batch_export_id: '/batch_exports/:id/',
  role_id: '/roles/:id/',
  domain_id: '/domains/:id/',
  uuid: '/users/:uuid/',
} as const
const parentOf = (route: Route) =>
  (Object.keys(PARENTS) as (keyof typeof PARENTS)[]).find(
    (name) => route.path.includes(`:${name}`) && childOf(route) !== name,
  )
/** A directory is that of a verified domain. */
const parentPath = (route: Route) =>
  route.path.includes('/scim/') ? '/domains/:domain_id/scim/' : PARENTS[parentOf(route)!]
const isBelowAccount = (route: Route) => parentOf(route) === 'uuid'
const hasOrganization = (route: Route) =>
  route.subject === 'organization' || route.path.includes(':organization_id')
const hasProject = (route: Route) => route.subject === 'project' || route.path.includes(':project_id')
/** The path's own thing answers 404 to strangers, what lies below it 403 (conventions.md §5). */
const strangerStatus = (route: Route) =>
  route.subject && !route.path.includes(':organization_id') ? 404 : 403
/** The path has an id of its own below organization or project, or none above it. */
const childOf = (route: Route) => {
  const id = /:([a-z_]+)\/(?:[a-z0-9_]+\/)?(?:stream\/)?$/.exec(route.path)?.[1]
  return id === undefined || route.subject || id === 'organization_id' || id === 'project_id' ? null : id
}

/** Apps, and what is below a project, are there under several paths, made by the same loops: the long run tries each. */
const OTHER_PATHS = /\/pipeline_|\/api\/plugin_config\/|^\/api\/environments\/:project_id\//
const tried = IS_LONG ? routes : routes.filter(({ path }) => !OTHER_PATHS.test(path))

const SHAPES = new Set(['query', 'body', 'answers', 'examples'])
/** What it declares and does. Functions are made for each path: they are equal if their text is. */
const rulesOf = (route: Route): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(route)
      .filter(([name]) => !SHAPES.has(name))
      .map(([name, value]: [string, unknown]) => [name, typeof value === 'function' ? String(value) : value]),
  )

describe('what every route declares', () => {
  it('either a scope or an access, never both and never nothing', () => {
    const wrong = routes.filter((route) => scopesOf(route).length > 0 === (route.access !== undefined))
    expect(wrong.map(nameOf)).toEqual([])
  })

  it('for whoever is not signed in, what a POST is a try at, or that it changes nothing', () => {
    const open = routes.filter((route) => isOpen(route) && route.method === 'POST')
    expect(open.filter(({ guesses, is_question }) => !guesses && !is_question).map(nameOf)).toEqual([])
  })

  it('a level wherever it names an organization or a project', () => {
    expect(
      routes.filter((route) => (hasOrganization(route) || hasProject(route)) && !route.level).map(nameOf),
    ).toEqual([])
  })

  it('reading is reading and writing is writing', () => {
    const wrong = routes.filter((route) =>
      scopesOf(route).some((scope) =>
        scope.endsWith(isUnsafe(route) && !isQuestion(route) ? ':read' : ':write'),
      ),
    )
    expect(wrong.map(nameOf)).toEqual([])
  })

  it('the scope that conventions.md §3.2 gives to its family', () => {
    const families: [RegExp, string[]][] = [
      [/\/batch_exports\//, ['batch_export']],
      [/^\/flags\/|\/feature_flags?\//, ['feature_flag']],
      [/\/(?:plugins|pipeline_[a-z_]+)\/activity\//, ['plugin', 'activity_log']],
      [/\/plugins\/|\/pipeline_|\/plugin_config|\/app_metrics\//, ['plugin']],
      [/\/access_controls\//, ['access_control']],
      [/\/members\/|\/invites\/|\/scim\//, ['organization_member']],
      [/\/mcp_tools\/read_taxonomy\//, ['event_definition']],
      [/\/mcp_tools\/execute_sql\//, ['query']],
      [/\/event_definitions\//, ['event_definition']],
      [/\/property_definitions\//, ['property_definition']],
      [/\/annotations\//, ['annotation']],
      [/\/persons\//, ['person', 'query']],
      [/\/groups_types\//, ['group', 'query']],
      [/\/events\b|\/query\//, ['query']],
      [/\/projects\/|^\/api\/environments\//, ['project']],
      [/^\/api\/(?:organizations|saml)\//, ['organization']],
      [/^\/api\/users\//, ['user']],
    ]
    const scoped = routes.filter(
      (route) =>
        route.scope &&
        !/\/(activity_log|activity_log\/chain|(projects|environments)\/:id\/activity)\/$/.test(route.path),
    )
    for (const route of scoped) {
      const family = families.find(([path]) => path.test(route.path))?.[1]
      expect(
        scopesOf(route).map((scope) => scope.split(':')[0]),
        nameOf(route),
      ).toEqual(family)
    }
  })

  it('the same below an environment as below a project, which is the same thing by another name', () => {
    const below = (base: string) =>
      Object.fromEntries(
        routes
          .filter(({ path }) => path.startsWith(base))
          .map((route) => [nameOf(route).replace(base, ''), { ...rulesOf(route), path: '' }]),
      )
    expect(Object.keys(below('/api/environments/')).length).toBeGreaterThan(100)
    expect(below('/api/environments/')).toEqual(below('/api/projects/'))
  })

  // Read this list as an attacker would: nobody need say who they are to call these.
  it('open to anyone are exactly these', () => {
    expect(routes.filter(isOpen).map(nameOf).sort()).toEqual([
      'GET /_preflight/',
      'GET /api/reset/:user_uuid/',
      'GET /api/signup/:invite_id/',
      'GET /complete/github/',
      'GET /complete/gitlab/',
      'GET /complete/google-oauth2/',
      'GET /complete/oidc/',
      'GET /complete/oidc/:domain_id/',
      'GET /complete/saml/',
      'GET /login/github/',
      'GET /login/gitlab/',
      'GET /login/google-oauth2/',
      'GET /login/oidc/',
      'GET /login/saml/',
      'GET /login/saml/metadata/:domain_id/',
      'POST /api/login/',
      'POST /api/login/link/',
      'POST /api/login/precheck/',
      'POST /api/login/recovery/',
      'POST /api/login/recovery/:user_uuid/',
      'POST /api/login/token/',
      'POST /api/reset/',
      'POST /api/reset/:user_uuid/',
      'POST /api/signup/',
      'POST /api/signup/:invite_id/',
      'POST /api/users/:uuid/request_email_verification/',
      'POST /api/users/:uuid/undo_email_change/',
      'POST /api/users/:uuid/verify_email/',
      'POST /api/users/request_email_verification/',
      'POST /api/users/verify_email/',
      'POST /complete/saml/',
    ])
  })

  it('any key at all will do for exactly these', () => {
    expect(
      routes
        .filter((route) => route.access === 'credential')
        .map(nameOf)
        .sort(),
    ).toEqual(['GET /api/personal_api_keys/:id/', 'GET /api/users/:uuid/'])
  })

  it('an enforced second factor leaves exactly these to a session without one', () => {
    expect(
      routes
        .filter((route) => route.without_second_factor && !isOpen(route))
        .map(nameOf)
        .sort(),
    ).toEqual([
      'GET /api/users/:uuid/',
      'GET /api/users/:uuid/start_2fa_setup/',
      'GET /api/users/:uuid/two_factor_start_setup/',
      'GET /api/users/:uuid/two_factor_status/',
      'POST /api/login/confirm/',
      'POST /api/logout/',
      'POST /api/users/:uuid/two_factor_validate/',
      'POST /api/users/:uuid/validate_2fa/',
    ])
  })

  it('a fresh sign-in for whatever changes an organization, its members, rights or service keys', () => {
    const sensitive =
      /^\/api\/organizations\/:id\/$|\/members\/|\/service_keys\/|\/roles\/|\/access_controls\/|\/scim\//
    const wrong = routes.filter(
      (route) => isUnsafe(route) && sensitive.test(route.path) && !route.needs_recent_sign_in,
    )
    expect(wrong.map(nameOf)).toEqual([])
  })

  // What only a person does, and what a key does for its person, changes who gets in, unless it is one of these.
  it('a sign-in of the last minutes for whatever changes an account, which is all but these', () => {
    const personal = routes.filter(
      (route) => isUnsafe(route) && (route.access === 'session' || scopesOf(route).includes('user:write')),
    )
    expect(personal.length).toBeGreaterThan(8)
    expect(personal.filter((route) => !route.changes_account).map(nameOf)).toEqual([
      // They only take away.
      'DELETE /api/users/:uuid/sessions/:id/',
      'POST /api/users/:uuid/sessions/end_others/',
      'POST /api/logout/',
      'POST /api/login/confirm/',
    ])
  })

  it('a good body is known to this test for every route that takes one', () => {
    expect(routes.filter((route) => route.body && !GOOD_BODIES[nameOf(route)]).map(nameOf)).toEqual([])
  })
})

let app: TestApp
let world: World
let strict: World
/** Its project is private. */
let closed: ClosedHome
beforeAll(async () => {
  app = await startTestApp({ OPEN_SIGNUP: 'on' })
  world = await makeWorld(app)
  strict = await makeWorld(app, { enforce_2fa: true })
  closed = await makeClosedHome(app)
})
afterAll(() => app.close())

type Place = { organization?: string; project?: string | number; parent?: string; child?: string }

/** The route's address at home, or at another place. */
function address(route: Route, place: Place = {}, from: Home = world): string {
  const organization = place.organization ?? from.home.organization.id
  const project = String(place.project ?? from.home.project.id)
  const parent = parentOf(route)
  return route.path
    .replace(':organization_id', organization)
    .replace(':project_id', project)
    .replace(parent ? `:${parent}` : /$^/, () => place.parent ?? from.children(parentPath(route), from.home))
    .replace(/:[a-z_]+/, () => {
      if (route.subject === 'organization') return organization
      if (route.subject === 'project') return project
      return place.child ?? from.children(route.path, from.home)
    })
}

async function ask(route: Route, call: Call, place?: Place, from: Home = world) {
  const body = GOOD_BODIES[nameOf(route)]?.(from, route.path)
  const reply = await app.call(route.method, address(route, place, from), {
    ...(body === undefined ? {} : { body }),
    ...call,
  })
  return [reply.status, reply.body?.code]
}

/** A session and a key with every right: what must be refused is refused to both. */
const credentialsOf = (route: Route, user: TestUser): [string, Call][] =>
  route.access === 'session'
    ? [['session', { session: user.session }]]
    : [
        ['session', { session: user.session }],
        ['key', { key: user.key }],
      ]

const named = (list: readonly Route[]) => list.map((route) => [nameOf(route), route] as const)

/** Who asks for what, and the refusal they get: a status, and a code where it must be that one. */
type Refusal = [who: string, refused: readonly [number, string?], call: Call, place?: Place, from?: Home]

const UNKNOWN = [401, 'not_authenticated'] as const
const NOT_VALID = [401, 'authentication_failed'] as const
const DENIED = [403, 'permission_denied'] as const
const MISSING = [404, 'not_found'] as const

function withoutCredential(route: Route): Refusal[] {
  const nonsense = { key: 'phx_nonsense' }
  const nowhere = { organization: NO_ID, project: NO_PROJECT, child: NO_ID }
  return [{}, nowhere].flatMap((place): Refusal[] => [
    ...(isOpen(route)
      ? []
      : ([
          ['nobody', UNKNOWN, {}, place],
          ['a session that never was', UNKNOWN, { session: 'x'.repeat(43) }, place],
        ] as Refusal[])),
    ['a key that never was', NOT_VALID, nonsense, place],
    ['such a key beside a session', NOT_VALID, { ...nonsense, session: world.home.owner.session }, place],
  ])
}

function withoutScope(route: Route): Refusal[] {
  const insufficient = keysWithout.get(scopesOf(route).join())
  return [
    ...(insufficient ? ([['a key without the scope', DENIED, { key: insufficient }]] as Refusal[]) : []),
    ...(route.access === 'session'
      ? ([['any key', DENIED, { key: world.home.owner.key }]] as Refusal[])
      : []),
  ]
}

function ofLowerLevel(route: Route): Refusal[] {
  const lower = (Object.keys(LEVELS) as LevelName[]).filter(
    (level) => route.level && LEVELS[level] < LEVELS[route.level],
  )
  return lower.flatMap((level) =>
    credentialsOf(route, world[level]).map(([by, call]): Refusal => [`${level} by ${by}`, DENIED, call]),
  )
}

function strangers(route: Route): Refusal[] {
  if (!hasOrganization(route) && !hasProject(route)) return []
  const refused = [strangerStatus(route)] as const
  const people = [
    ['the owner of another organization', world.foreign.owner],
    ['somebody who belongs nowhere', world.loner],
  ] as const
  return [
    ...people.flatMap(([who, user]) =>
      credentialsOf(route, user).map(([by, call]): Refusal => [`${who} by ${by}`, refused, call]),
    ),
    ['a service key of another organization', refused, { key: world.foreignServiceKey }],
    [
      'a key limited to another organization',
      [route.subject === 'organization' ? 404 : 403],
      { key: world.keyOfOtherOrganization },
    ],
    ['a key limited to another project', [403], { key: world.keyOfOtherProject }],
  ]
}

/** A private project is to a member whom no rule names what it is to a stranger, by whichever path. */
function withoutAccess(route: Route): Refusal[] {
  const refused = refusedWithoutAccess(route)
  if (refused === null) return []
  const { member, serviceKey } = closed
  return [
    ...credentialsOf(route, member).map(([by, call]): Refusal => [
      `a member without access by ${by}`,
      refused,
      call,
      {},
      closed,
    ]),
    ['a service key without access', refused, { key: serviceKey }, {}, closed],
  ]
}

function refusedWithoutAccess(route: Route): readonly [number, string] | null {
  if (hasProject(route)) return route.subject === 'project' ? MISSING : DENIED
  // Paths that name the organization alone lead to things of its projects, and those without either to the current one.
  const isExport = route.path.includes('/organizations/:organization_id/batch_exports/:id/')
  const isConfig = CONFIG_BASES.some(({ base }) => route.path.startsWith(base))
  return isExport || isConfig ? MISSING : null
}

/** On whatever lies above its projects. */
function limitedToProjects(route: Route): Refusal[] {
  if (!route.scope || route.is_about_caller) return []
  return [['a key limited to other projects', DENIED, { key: world.keyOfOtherProject }]]
}

function ofMissingPlaces(route: Route): Refusal[] {
  const places: Place[] = [
    ...(hasOrganization(route) ? [NO_ID, 'nonsense', '0'].map((organization) => ({ organization })) : []),
    ...(hasProject(route) ? [NO_PROJECT, 'nonsense', 99_999_999_999].map((project) => ({ project })) : []),
    // A project below another organization's path.
    ...(route.subject === 'project' && route.path.includes(':organization_id')
      ? [{ project: world.foreign.project.id }]
      : []),
    // A child whose own parent is not the one in the path.
    ...(parentOf(route) && !isBelowAccount(route)
      ? [world.children(parentPath(route), world.foreign), 'nonsense'].map((parent) => ({ parent }))
      : []),
  ]
  const accounts: Place[] = isBelowAccount(route)
    ? [world.foreign.owner.uuid, NO_ID, 'nonsense'].map((parent) => ({ parent }))
    : []
  const refused = [
    ...places.map((place) => [place, MISSING] as const),
    ...accounts.map((place) => [place, DENIED] as const),
  ]
  return refused.flatMap(([place, refusal]) =>
    credentialsOf(route, world.ownerOfBoth).map(([by, call]): Refusal => [
      `of ${JSON.stringify(place)} by ${by}`,
      refusal,
      call,
      place,
    ]),
  )
}

function ofMissingChildren(route: Route): Refusal[] {
  if (childOf(route) === null || isOpen(route)) return []
  // Accounts of others are out of reach whether they exist or not.
  const isAccount = route.path.startsWith('/api/users/') && !isBelowAccount(route)
  const theirs = isAccount ? world.foreign.owner.uuid : world.children(route.path, world.foreign)
  const refusedTo = (child: string, call: Call) => {
    // The shape of an event's id is checked first (events.md §2).
    if (route.path.includes('/events/') && child === 'nonsense') return [400, 'invalid'] as const
    // A key may look at no key but itself.
    if (isAccount || (route.path === '/api/personal_api_keys/:id/' && call.key)) return DENIED
    return MISSING
  }
  return [NO_ID, 'nonsense', theirs].flatMap((child) =>
    credentialsOf(route, world.ownerOfBoth).map(([by, call]): Refusal => [
      `of the child ${child} by ${by}`,
      refusedTo(child, call),
      call,
      { child },
    ]),
  )
}

function sessionsNotGoodEnough(route: Route): Refusal[] {
  if (isOpen(route)) return []
  const { session } = world.home.owner
  const headers = { origin: 'https://evil.example' }
  const without_factor = { session: strict.home.owner.session }
  return [
    ...(route.needs_recent_sign_in || route.changes_account === true
      ? ([
          ['a session that is too old', [403, 'recent_sign_in_required'], { session: old_session }],
        ] as Refusal[])
      : []),
    ...(isUnsafe(route) ? ([['another site', DENIED, { session, headers }]] as Refusal[]) : []),
    ...(route.without_second_factor
      ? []
      : ([
          ['no second factor', [403, 'two_factor_setup_required'], without_factor, {}, strict],
        ] as Refusal[])),
  ]
}

/** By the scopes that a route wants: a key that has all others. */
const keysWithout = new Map<string, string>()
let old_session: string
beforeAll(async () => {
  const all = SCOPE_OBJECTS.flatMap((object): Scope[] => [`${object}:read`, `${object}:write`])
  for (const wanted of routes.filter(({ scope }) => scope !== undefined).map(scopesOf)) {
    if (keysWithout.has(wanted.join())) continue
    const scopes = all.filter((scope) => !wanted.some((one) => hasScope([scope], one)))
    keysWithout.set(wanted.join(), await createKey(app, world.home.owner, { scopes }))
  }
  const long_ago = new Date(Date.now() - OLD_SESSION_MS)
  const old = await openSession(app.db, world.home.owner.id, false, long_ago)
  old_session = app.canary.plant('session token', old!.token)
})

describe('refused, and nothing is written', () => {
  let before: Record<string, string>
  beforeAll(async () => {
    before = await hashTables(app.db)
  })

  it.each(named(tried))('%s', async (_name, route) => {
    const refusals = [
      withoutCredential,
      withoutScope,
      ofLowerLevel,
      strangers,
      withoutAccess,
      limitedToProjects,
      ofMissingPlaces,
      ofMissingChildren,
      sessionsNotGoodEnough,
    ].flatMap((list) => list(route))
    const expected: [string, readonly unknown[]][] = []
    const answers: [string, readonly unknown[]][] = []
    for (const [who, refused, call, place, from] of refusals) {
      expected.push([who, refused])
      answers.push([who, (await ask(route, call, place, from)).slice(0, refused.length)])
    }
    expect(answers).toEqual(expected)
    expect(await hashTables(app.db)).toEqual(before)
  })
})

describe('whoever fulfils the rule gets past it', () => {
  // What the checks let through and the route itself then refuses, for want of something this file does not set up.
  const REFUSED_LATER: Record<string, number> = {
    'POST /api/users/:uuid/validate_2fa/': 400,
    'POST /api/users/:uuid/two_factor_validate/': 400,
    'POST /api/users/:uuid/two_factor_backup_codes/': 400,
    'POST /api/users/:uuid/two_factor_disable/': 400,
    'POST /api/login/': 400,
    'POST /api/login/token/': 400,
    'POST /api/login/confirm/': 400,
    'POST /api/login/link/': 400,
    'POST /api/login/recovery/': 400,
    'POST /api/login/recovery/:user_uuid/': 400,
    // The world's domains are not verified, so they have no people.
    'DELETE /api/organizations/:organization_id/domains/:domain_id/keys/:id/': 404,
    // And no provider.
    'POST /api/organizations/:organization_id/domains/:id/test_sso/': 400,
    'POST /api/reset/': 400,
    'GET /api/reset/:user_uuid/': 400,
    'POST /api/reset/:user_uuid/': 400,
    'POST /api/users/:uuid/verify_email/': 400,
    'POST /api/users/:uuid/undo_email_change/': 400,
    'POST /api/users/:uuid/request_email_verification/': 400,
    'POST /api/users/verify_email/': 400,
    'POST /api/users/request_email_verification/': 400,
    'PATCH /api/users/cancel_email_change_request/': 400,
    // The only owner of an organization with others stays.
    'DELETE /api/users/:uuid/': 409,
    // Nobody in the world is staff.
    'GET /api/instance_status/': 403,
    // The world's projects have events.
    'POST /api/projects/:project_id/sample_data/': 409,
    'POST /api/environments/:project_id/sample_data/': 409,
    // Without `key` there is nothing to give values of.
    'GET /api/projects/:project_id/events/values/': 400,
    'GET /api/environments/:project_id/events/values/': 400,
    'GET /api/projects/:project_id/persons/values/': 400,
    'GET /api/environments/:project_id/persons/values/': 400,
    // Without a name there is nothing to look for.
    'GET /api/projects/:project_id/event_definitions/by_name/': 400,
    'GET /api/environments/:project_id/event_definitions/by_name/': 400,
    'GET /api/projects/:project_id/property_definitions/seen_together/': 400,
    'GET /api/environments/:project_id/property_definitions/seen_together/': 400,
    // Without `destination` there is nothing to name the steps of.
    'GET /api/projects/:project_id/batch_exports/test/': 400,
    'GET /api/environments/:project_id/batch_exports/test/': 400,
    // Without `category` there is nothing to count.
    'GET /api/projects/:project_id/app_metrics/:plugin_config_id/': 400,
    'GET /api/environments/:project_id/app_metrics/:plugin_config_id/': 400,
    'GET /api/projects/:project_id/app_metrics/:plugin_config_id/error_details/': 400,
    'GET /api/environments/:project_id/app_metrics/:plugin_config_id/error_details/': 400,
    // A frontend app has no code that events go through.
    'POST /api/organizations/:organization_id/pipeline_frontend_apps/:id/test/': 400,
    // Queries are answered at once, so none is ever found by its id.
    'GET /api/projects/:project_id/query/:id/': 404,
    'GET /api/environments/:project_id/query/:id/': 404,
    'DELETE /api/projects/:project_id/query/:id/': 404,
    'DELETE /api/environments/:project_id/query/:id/': 404,
  }
  // A key with a narrow scope could widen itself by these, or change who gets in, so they take `*` or a session.
  const NOT_BY_NARROW_KEY = /^(POST|PATCH) .*\/service_keys\/|cancel_email_change_request/

  it.each(named(tried))('%s', async (name, route) => {
    const lowest = route.level ?? 'owner'
    const expected = REFUSED_LATER[name] ?? Number(Object.keys(route.answers)[0])
    const calls: ((fresh: Home) => Promise<Call>)[] = [
      async (fresh) => (isOpen(route) ? {} : { session: fresh[lowest].session }),
    ]
    if (route.scope && !NOT_BY_NARROW_KEY.test(name)) {
      for (const scope of scopesOf(route)) {
        calls.push(async (fresh) => ({ key: await createKey(app, fresh[lowest], { scopes: [scope] }) }))
      }
    }
    // A private project is open to whom a role names.
    if (hasProject(route) && lowest === 'member' && !isUnsafe(route)) {
      const { session } = closed.memberByRole
      const child = closed.childFor(route, closed.memberByRole)
      const [status, code] = await ask(route, { session, may_show_secrets: true }, { child }, closed)
      expect(status, code).toBe(expected)
    }
    for (const call of calls) {
      const fresh = isUnsafe(route) && !leavesThings(route) ? await makeHome(app) : world
      const child = fresh.childFor(route, fresh[lowest])
      const [status, code] = await ask(
        route,
        { ...(await call(fresh)), may_show_secrets: true },
        { child },
        fresh,
      )
      expect(status, code).toBe(expected)
    }
  })
})
