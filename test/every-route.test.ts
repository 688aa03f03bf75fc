// Every route against the rule it declares: who is refused, with what, and that a refusal writes nothing. A new route is
// covered by being in the list; one without a rule, or of a kind this file does not know yet, fails here.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../src/app/http.ts'
import { openSession } from '../src/features/sign-in/sessions.ts'
import { LEVELS, type LevelName } from '../src/platform/http/caller.ts'
import type { Route } from '../src/platform/http/route.ts'
import { hasScope, SCOPE_OBJECTS, type Scope } from '../src/platform/http/scopes.ts'
import { GOOD_BODIES, makeWorld, NO_ID, NO_PROJECT, OLD_SESSION_MS, type World } from './every-route-world.ts'
import { createKey, type TestUser } from './factories.ts'
import { startTestApp, type Call, type TestApp } from './harness/app.ts'
import { hashTables } from './harness/tables.ts'

const nameOf = (route: Route) => `${route.method} ${route.path}`
const scopesOf = (route: Route): readonly Scope[] => [route.scope ?? []].flat()
const isOpen = (route: Route) => route.access === 'anyone'
const isUnsafe = (route: Route) => route.method !== 'GET'
/** Questions too long for an address are sent by POST all the same. */
const isQuestion = (route: Route) => /\/query\/|\/estimate\//.test(route.path)
/** Making a world for each of them takes minutes: there are many, and none takes away what another needs. */
const leavesThings = (route: Route) =>
  /\/plugins\/|\/pipeline_|\/plugin_config/.test(route.path) && route.method !== 'DELETE'
/** The thing between project and child, as the export is to its runs. */
const hasParent = (route: Route) =>
  route.path.includes(':batch_export_id') && childOf(route) !== 'batch_export_id'
const hasOrganization = (route: Route) =>
  route.subject === 'organization' || route.path.includes(':organization_id')
const hasProject = (route: Route) => route.subject === 'project' || route.path.includes(':project_id')
/** The path's own thing answers 404 to strangers, what lies below it 403 (conventions.md §5). */
const strangerStatus = (route: Route) =>
  route.subject && !route.path.includes(':organization_id') ? 404 : 403
/** The path has an id of its own below organization or project, or none above it. */
const childOf = (route: Route) => {
  const id = /:([a-z_]+)\/(?:[a-z0-9_]+\/)?$/.exec(route.path)?.[1]
  return id === undefined || route.subject || id === 'organization_id' || id === 'project_id' ? null : id
}

describe('what every route declares', () => {
  it('either a scope or an access, never both and never nothing', () => {
    const wrong = routes.filter((route) => scopesOf(route).length > 0 === (route.access !== undefined))
    expect(wrong.map(nameOf)).toEqual([])
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
      [/\/(?:plugins|pipeline_[a-z_]+)\/activity\//, ['plugin', 'activity_log']],
      [/\/plugins\/|\/pipeline_|\/plugin_config|\/app_metrics\//, ['plugin']],
      [/\/members\/|\/invites\//, ['organization_member']],
      [/\/persons\//, ['person', 'query']],
      [/\/events\b|\/query\//, ['query']],
      [/\/projects\//, ['project']],
      [/^\/api\/organizations\//, ['organization']],
      [/^\/api\/users\//, ['user']],
    ]
    const scoped = routes.filter((route) => route.scope && !route.path.endsWith('/activity_log/'))
    for (const route of scoped) {
      const family = families.find(([path]) => path.test(route.path))?.[1]
      expect(
        scopesOf(route).map((scope) => scope.split(':')[0]),
        nameOf(route),
      ).toEqual(family)
    }
  })

  // Read this list as an attacker would: nobody need say who they are to call these.
  it('open to anyone are exactly these', () => {
    expect(routes.filter(isOpen).map(nameOf).sort()).toEqual([
      'GET /api/reset/:user_uuid/',
      'GET /api/signup/:invite_id/',
      'POST /api/login/',
      'POST /api/login/precheck/',
      'POST /api/login/token/',
      'POST /api/reset/',
      'POST /api/reset/:user_uuid/',
      'POST /api/signup/',
      'POST /api/signup/:invite_id/',
      'POST /api/users/:uuid/request_email_verification/',
      'POST /api/users/:uuid/verify_email/',
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
      'GET /api/users/:uuid/two_factor_status/',
      'POST /api/logout/',
      'POST /api/users/:uuid/validate_2fa/',
    ])
  })

  it('a fresh sign-in for whatever changes an organization, its members or keys', () => {
    const sensitive = /^\/api\/organizations\/:id\/$|\/members\/|_api_keys\/|\/service_keys\//
    const wrong = routes.filter(
      (route) => isUnsafe(route) && sensitive.test(route.path) && !route.needs_recent_sign_in,
    )
    expect(wrong.map(nameOf)).toEqual([])
  })

  it('a good body is known to this test for every route that takes one', () => {
    expect(routes.filter((route) => route.body && !GOOD_BODIES[nameOf(route)]).map(nameOf)).toEqual([])
  })
})

let app: TestApp
let world: World
let strict: World
beforeAll(async () => {
  app = await startTestApp({ OPEN_SIGNUP: 'on' })
  world = await makeWorld(app)
  strict = await makeWorld(app, { enforce_2fa: true })
})
afterAll(() => app.close())

const EXPORT_PATH = '/batch_exports/:id/'

type Place = { organization?: string; project?: string | number; parent?: string; child?: string }

/** The route's address at home, or at another place. */
function address(route: Route, place: Place = {}, from: World = world): string {
  const organization = place.organization ?? from.home.organization.id
  const project = String(place.project ?? from.home.project.id)
  return route.path
    .replace(':organization_id', organization)
    .replace(':project_id', project)
    .replace(
      hasParent(route) ? ':batch_export_id' : /$^/,
      () => place.parent ?? from.children(EXPORT_PATH, from.home),
    )
    .replace(/:[a-z_]+/, () => {
      if (route.subject === 'organization') return organization
      if (route.subject === 'project') return project
      return place.child ?? from.children(route.path, from.home)
    })
}

async function ask(route: Route, call: Call, place?: Place, from: World = world) {
  const body = GOOD_BODIES[nameOf(route)]?.(from, route.path)
  const reply = await app.call(route.method, address(route, place, from), {
    ...(body === undefined ? {} : { body }),
    ...call,
  })
  return [reply.status, reply.body?.code]
}

/** A session and a key with every right: what must be refused is refused to both. */
const credentialsOf = (route: Route, user: TestUser): Call[] =>
  route.access === 'session' ? [{ session: user.session }] : [{ session: user.session }, { key: user.key }]

const named = (list: readonly Route[]) => list.map((route) => [nameOf(route), route] as const)

/** Runs refusals and holds that none of them left a trace. */
async function withoutTrace(refusals: () => Promise<void>): Promise<void> {
  const before = await hashTables(app.db)
  await refusals()
  expect(await hashTables(app.db)).toEqual(before)
}

describe.each(named(routes))('%s', (_name, route) => {
  it('401 without a credential, wherever it points', async () => {
    await withoutTrace(async () => {
      for (const place of [{}, { organization: NO_ID, project: NO_PROJECT, child: NO_ID }]) {
        if (!isOpen(route)) {
          expect(await ask(route, {}, place)).toEqual([401, 'not_authenticated'])
          expect(await ask(route, { session: 'x'.repeat(43) }, place)).toEqual([401, 'not_authenticated'])
        }
        expect(await ask(route, { key: 'phx_nonsense' }, place)).toEqual([401, 'authentication_failed'])
        expect(await ask(route, { key: 'phx_nonsense', session: world.home.owner.session }, place)).toEqual([
          401,
          'authentication_failed',
        ])
      }
    })
  })

  it('403 to a key without the scope, or to any key where a session is needed', async () => {
    const all = SCOPE_OBJECTS.flatMap((object): Scope[] => [`${object}:read`, `${object}:write`])
    const wanted = scopesOf(route)
    const scopes = all.filter((scope) => !wanted.some((one) => hasScope([scope], one)))
    const insufficient = await createKey(app, world.home.owner, { scopes })
    await withoutTrace(async () => {
      if (route.scope) expect(await ask(route, { key: insufficient })).toEqual([403, 'permission_denied'])
      if (route.access === 'session')
        expect(await ask(route, { key: world.home.owner.key })).toEqual([403, 'permission_denied'])
    })
  })

  it('403 to every lower level', async () => {
    const lower = (Object.keys(LEVELS) as LevelName[]).filter(
      (level) => route.level && LEVELS[level] < LEVELS[route.level],
    )
    await withoutTrace(async () => {
      for (const level of lower) {
        for (const call of credentialsOf(route, world[level])) {
          expect(await ask(route, call), level).toEqual([403, 'permission_denied'])
        }
      }
    })
  })

  it('403 or 404 to strangers: people, service keys, and keys limited to elsewhere', async () => {
    if (!hasOrganization(route) && !hasProject(route)) return
    const refused = strangerStatus(route)
    await withoutTrace(async () => {
      for (const call of [
        ...credentialsOf(route, world.foreign.owner),
        ...credentialsOf(route, world.loner),
        { key: world.foreignServiceKey },
      ]) {
        expect((await ask(route, call))[0]).toBe(refused)
      }
      expect((await ask(route, { key: world.keyOfOtherOrganization }))[0]).toBe(
        route.subject === 'organization' ? 404 : 403,
      )
      expect((await ask(route, { key: world.keyOfOtherProject }))[0]).toBe(403)
    })
  })

  it('403 to a key limited to projects on whatever lies above them', async () => {
    if (!route.scope || route.is_about_caller) return
    await withoutTrace(async () =>
      expect(await ask(route, { key: world.keyOfOtherProject })).toEqual([403, 'permission_denied']),
    )
  })

  it('404 for an organization or a project that is not there', async () => {
    await withoutTrace(async () => {
      for (const call of credentialsOf(route, world.home.owner)) {
        if (hasOrganization(route)) {
          for (const organization of [NO_ID, 'nonsense', '0'])
            expect(await ask(route, call, { organization })).toEqual([404, 'not_found'])
        }
        if (hasProject(route)) {
          for (const project of [NO_PROJECT, 'nonsense', 99_999_999_999])
            expect(await ask(route, call, { project })).toEqual([404, 'not_found'])
        }
      }
    })
  })

  it('404 for a child that is not there, or is of another parent', async () => {
    if (childOf(route) === null || isOpen(route)) return
    // Accounts of others are out of reach whether they exist or not.
    const isAccount = route.path.startsWith('/api/users/')
    const refused = isAccount ? [403, 'permission_denied'] : [404, 'not_found']
    const isEvent = route.path.includes('/events/')
    const theirs = isAccount ? world.foreign.owner.uuid : world.children(route.path, world.foreign)
    await withoutTrace(async () => {
      for (const child of [NO_ID, 'nonsense', theirs]) {
        for (const call of credentialsOf(route, world.ownerOfBoth)) {
          // A key may look at no key but itself.
          const isOtherKey = route.path === '/api/personal_api_keys/:id/' && call.key
          // Of an event's id its shape is checked first (events.md §2).
          const isMalformed = isEvent && child === 'nonsense'
          expect(await ask(route, call, { child }), child).toEqual(
            isMalformed ? [400, 'invalid'] : isOtherKey ? [403, 'permission_denied'] : refused,
          )
        }
      }
    })
  })

  it('404 for a child whose own parent is not the one in the path', async () => {
    if (!hasParent(route)) return
    const parent = world.children(EXPORT_PATH, world.foreign)
    await withoutTrace(async () => {
      for (const call of credentialsOf(route, world.ownerOfBoth)) {
        expect(await ask(route, call, { parent })).toEqual([404, 'not_found'])
        expect(await ask(route, call, { parent: 'nonsense' })).toEqual([404, 'not_found'])
      }
    })
  })

  it("404 for a project below another organization's path", async () => {
    if (!(route.subject === 'project' && route.path.includes(':organization_id'))) return
    await withoutTrace(async () => {
      for (const call of credentialsOf(route, world.ownerOfBoth)) {
        expect(await ask(route, call, { project: world.foreign.project.id })).toEqual([404, 'not_found'])
      }
    })
  })

  it('403 to a session that is too old, comes from another site, or lacks a demanded second factor', async () => {
    if (isOpen(route)) return
    const { owner } = world.home
    const old = await openSession(app.db, owner.id, false, new Date(Date.now() - OLD_SESSION_MS))
    const session = app.canary.plant('session token', old!.token)
    await withoutTrace(async () => {
      if (route.needs_recent_sign_in)
        expect(await ask(route, { session })).toEqual([403, 'permission_denied'])
      if (isUnsafe(route)) {
        const headers = { origin: 'https://evil.example' }
        expect(await ask(route, { session: owner.session, headers })).toEqual([403, 'permission_denied'])
      }
      if (!route.without_second_factor) {
        expect(await ask(route, { session: strict.home.owner.session }, {}, strict)).toEqual([
          403,
          'two_factor_setup_required',
        ])
      }
    })
  })
})

describe('whoever fulfils the rule gets past it', () => {
  // What the checks let through and the route itself then refuses, for want of something this file does not set up.
  const REFUSED_LATER: Record<string, number> = {
    'POST /api/users/:uuid/validate_2fa/': 400,
    'POST /api/users/:uuid/two_factor_backup_codes/': 400,
    'POST /api/users/:uuid/two_factor_disable/': 400,
    'POST /api/login/': 400,
    'POST /api/login/token/': 400,
    'POST /api/reset/': 400,
    'GET /api/reset/:user_uuid/': 400,
    'POST /api/reset/:user_uuid/': 400,
    'POST /api/users/:uuid/verify_email/': 400,
    'POST /api/users/:uuid/request_email_verification/': 400,
    // Without `key` there is nothing to give values of.
    'GET /api/projects/:project_id/events/values/': 400,
    'GET /api/environments/:project_id/events/values/': 400,
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
  // A key with a narrow scope could widen itself by these, so they take `*` or a session.
  const NOT_BY_NARROW_KEY = /^(POST|PATCH) .*\/service_keys\//

  it.each(named(routes))('%s', async (name, route) => {
    const lowest = route.level ?? 'owner'
    const expected = REFUSED_LATER[name] ?? Number(Object.keys(route.answers)[0])
    const calls: ((fresh: World) => Promise<Call>)[] = [
      async (fresh) => (isOpen(route) ? {} : { session: fresh[lowest].session }),
    ]
    if (route.scope && !NOT_BY_NARROW_KEY.test(name)) {
      for (const scope of scopesOf(route)) {
        calls.push(async (fresh) => ({ key: await createKey(app, fresh[lowest], { scopes: [scope] }) }))
      }
    }
    for (const call of calls) {
      const fresh = isUnsafe(route) && !leavesThings(route) ? await makeWorld(app) : world
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
