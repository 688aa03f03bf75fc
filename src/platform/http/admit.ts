// Checks 2 to 7 of the fixed order: who asks, whether they may, and where the path leads. A stream is held to them again and
// again while it is open.
import type { Services } from '../services.ts'
import type { Access } from './access.ts'
import { isStorableText } from './body.ts'
import { callerId, type Caller } from './caller.ts'
import type { Incoming, RequestNotes } from './dispatch.ts'
import { ApiError, methodNotAllowed, notFound, unauthenticated } from './errors.ts'
import { assertSameOrigin, identify, one } from './identify.ts'
import { assertScope, assertSecondFactor, reach, type Reach } from './reach.ts'
import { assertMayChangeAccount, assertRecentSignIn, isAccountChange } from './recent-sign-in.ts'
import type { Route } from './route.ts'
import type { Rate } from './throttle.ts'

export type Asked = {
  services: Services
  access: Access
  /** Those of the path, by method. */
  routes: ReadonlyMap<string, Route>
  incoming: Incoming
  /** The body. */
  parsed(): Promise<unknown>
}

export type Admitted = { route: Route; caller: Caller | null; reached: Reach }

const UNSAFE = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
/** What holds for every call with a key. */
const KEY_RATES: readonly Rate[] = [
  { count: 480, window_ms: 60_000 },
  { count: 4800, window_ms: 3_600_000 },
]
/** And for all keys together in one organization, which may have any number of them. */
const ORGANIZATION_KEYS = 10

/** Without `notes` the request was admitted before: then it counts neither as a call nor as a guess. */
export async function admit(asked: Asked, now: Date, notes?: RequestNotes): Promise<Admitted> {
  const { services, access, routes, incoming } = asked
  const caller = await identifyCaller(asked, now, notes === undefined)
  if (notes) notes.caller = callerId(caller)
  const route = routeFor(routes, incoming.method)
  const isForOwnSite = !route.takes_other_sites && (caller === null || caller.kind === 'session')
  if (isForOwnSite) assertOwnSite(services, incoming)
  if (caller && notes) takeFromLimits(services, route, caller, now)
  if (caller) assertCredentialFits(route, caller)
  assertStorableParams(incoming.params)
  const reached = caller ? await reach(services.db, access, route, caller, incoming.params) : {}
  if (notes && reached.organization) notes.organization_id = reached.organization.id
  if (notes && reached.project) {
    notes.project_id = reached.project.id
    notes.organization_id = reached.project.organization_id
  }
  if (caller && notes) takeFromOrganization(services, caller, reached, now)
  if (caller) {
    assertRecentSignIn(route, caller, now)
    if (isAccountChange(route)) assertMayChangeAccount(caller, now)
  }
  return { route, caller, reached }
}

async function identifyCaller(
  { services, access, routes, incoming, parsed }: Asked,
  now: Date,
  isAgain: boolean,
): Promise<Caller | null> {
  const route = routes.get(incoming.method)
  // A wrong method on a path that anybody may call is just that: 405.
  const isOpen = (route ? [route] : [...routes.values()]).every(({ access }) => access === 'anyone')
  const caller = await identify(
    services,
    access,
    {
      authorization: one(incoming.headers.authorization),
      bodyKey: () => parsed().then(keyInBody, () => undefined),
      queryKey: incoming.query.personal_api_key,
      cookie: one(incoming.headers.cookie),
      ip: incoming.ip,
      async onWrongKey() {
        if (!isAgain) await services.guesses.take({ kind: 'key', ip: incoming.ip, now })
      },
    },
    now,
  ).catch((error: unknown) => {
    // Whoever has to sign in again must be able to.
    if (isOpen && error instanceof ApiError && error.code === 'sso_required') return null
    throw error
  })
  if (!caller && !isOpen) throw unauthenticated('not_authenticated')
  return caller
}

function keyInBody(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'personal_api_key')) return undefined
  return (body as { personal_api_key: unknown }).personal_api_key
}

function routeFor(routes: ReadonlyMap<string, Route>, method: string): Route {
  const route = routes.get(method)
  if (route) return route
  const allow = [...routes.keys()]
    .flatMap((offered) => (offered === 'GET' ? ['GET', 'HEAD'] : [offered]))
    .join(', ')
  throw methodNotAllowed(allow)
}

/** For everything a browser can be made to send, signing in included: a key is never sent by accident. */
function assertOwnSite(services: Services, incoming: Incoming): void {
  if (!UNSAFE.has(incoming.method)) return
  assertSameOrigin({
    origin: one(incoming.headers.origin),
    fetch_site: one(incoming.headers['sec-fetch-site']),
    own_origins: [incoming.url.origin, services.settings.site_url],
  })
}

function takeFromLimits(services: Services, { key_limit }: Route, caller: Caller, now: Date): void {
  if (caller.kind === 'session') return
  takeFromKey(services, caller.key.id, now)
  if (!key_limit) return
  const rates = scaled(key_limit.rates, services.settings.key_limits_percent)
  services.throttle.take(key_limit.name, caller.key.id, rates, now)
}

/** One call with the key. */
export function takeFromKey({ throttle, settings }: Services, id: string, now: Date): void {
  throttle.take('key', id, scaled(KEY_RATES, settings.key_limits_percent), now)
}

/** Only calls that may reach the organization count: nobody uses up the limit of another one. */
function takeFromOrganization(
  { throttle, settings }: Services,
  caller: Caller,
  { organization, project }: Reach,
  now: Date,
): void {
  const organization_id = project?.organization_id ?? organization?.id
  if (caller.kind === 'session' || organization_id === undefined) return
  const rates = scaled(KEY_RATES, settings.key_limits_percent * ORGANIZATION_KEYS)
  throttle.take('organization', organization_id, rates, now)
}

function scaled(rates: readonly Rate[], percent: number): readonly Rate[] {
  if (percent === 100) return rates
  return rates.map(({ count, window_ms }) => ({ count: Math.ceil((count * percent) / 100), window_ms }))
}

function assertCredentialFits(route: Route, caller: Caller): void {
  assertScope(route, caller)
  assertSecondFactor(route, caller, caller.kind === 'session' && caller.session.is_second_factor_demanded)
}

/** Path ids are compared with stored text, and PostgreSQL takes neither NUL nor broken characters. */
function assertStorableParams(params: Record<string, string>): void {
  for (const value of Object.values(params)) {
    if (value === '' || !isStorableText(value)) throw notFound()
  }
}
