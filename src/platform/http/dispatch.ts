// One request from credentials to answer, in the fixed order of conventions.md §1. Everything slices rely on.
import { assertSecondFactor, assertScope, reach } from './reach.ts'
import {
  assertMayChangeAccount,
  assertRecentSignIn,
  isAccountChange,
  whileCallerLasts,
} from './recent-sign-in.ts'
import type { Access } from './access.ts'
import { isStorableText, parseBody, type RawBody } from './body.ts'
import { callerId, type Caller } from './caller.ts'
import { ApiError, invalid, notFound, unauthenticated } from './errors.ts'
import { answerOnce } from './idempotency.ts'
import { assertSameOrigin, identify, sessionToken } from './identify.ts'
import { pageAnswer, readPage, urlWith } from './paging.ts'
import type { AnyAnswer, ReadyText, Route, SessionCookie } from './route.ts'
import type { Db } from '../db/database.ts'
import type { Services } from '../services.ts'
import { validate } from './validate.ts'

export type Incoming = {
  method: string
  params: Record<string, string>
  query: Record<string, unknown>
  headers: Record<string, string | string[] | undefined>
  raw: RawBody
  url: URL
  ip: string
  id: string
  /** None where no client waits on a connection of its own. */
  signal?: AbortSignal
}

export type Outgoing = {
  status: number
  json: string | null
  /** In place of `json`. */
  ready?: ReadyText
  session?: SessionCookie
  headers?: Record<string, string>
}

/** Facts for the access log, filled in as they become known. */
export type RequestNotes = { caller?: string; organization_id?: string; project_id?: number; tool?: string }

const UNSAFE = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
/** What holds for every call with a key. */
export const KEY_RATES = [
  { count: 480, window_ms: 60_000 },
  { count: 4800, window_ms: 3_600_000 },
]

export async function dispatch(
  services: Services,
  access: Access,
  routes: ReadonlyMap<string, Route>,
  incoming: Incoming,
  notes: RequestNotes,
): Promise<Outgoing> {
  const now = services.now()
  const parsed = once(() =>
    parseBody(
      incoming.raw,
      one(incoming.headers['content-type']),
      one(incoming.headers['content-encoding']),
      routes.get(incoming.method)?.takes_files,
    ),
  )
  const caller = await identifyCaller(services, access, routes, incoming, parsed, now)
  notes.caller = callerId(caller)
  const route = routeFor(routes, incoming.method)
  if (caller === null || caller.kind === 'session') assertOwnSite(services, incoming)
  if (caller) assertCredentialFits(services, route, caller, now)
  assertStorableParams(incoming.params)
  const reached = caller ? await reach(services.db, access, route, caller, incoming.params) : {}
  if (reached.organization) notes.organization_id = reached.organization.id
  if (reached.project) notes.project_id = reached.project.id
  if (caller) {
    assertRecentSignIn(route, caller, now)
    if (isAccountChange(route)) assertMayChangeAccount(caller, now)
  }
  const page = readPage(incoming.query)
  const context = {
    services,
    db: services.db as Db,
    caller,
    session_token: sessionToken(one(incoming.headers.cookie)) ?? null,
    params: incoming.params,
    page,
    paged: <Item>(count: number, results: Item[]) => pageAnswer(incoming.url, page, count, results),
    request: {
      ip: incoming.ip,
      id: incoming.id,
      headers: incoming.headers,
      urlWith: (parameters: Record<string, string | null>) => urlWith(incoming.url, parameters),
      get signal() {
        return incoming.signal
      },
    },
    now,
    ...reached,
  }
  const prepare = async () => {
    const item = route.item ? await route.item(context as never) : undefined
    assertStorableQuery(incoming.query)
    const query = route.query ? validate(route.query, incoming.query) : incoming.query
    const body = route.body ? validate(route.body, await parsed()) : undefined
    const changing = isAccountChange(route, body) ? caller : null
    if (changing) assertMayChangeAccount(changing, now)
    const checked = Object.assign(context, { item, query, body })
    const proof = route.prove ? await route.prove(checked as never) : undefined
    const handle = async (db: Db) =>
      outgoing(route, await route.handle(Object.assign(checked, { db, proof }) as never))
    return changing ? (db: Db) => whileCallerLasts(db, access, changing, handle) : handle
  }
  const perform = () => answer(services, route, incoming, context, prepare)
  if (!route.guesses) return perform()
  return services.guesses.during({ kind: route.guesses, ip: incoming.ip, now }, perform, isRightGuess)
}

type AskedBy = { caller: Caller | null; session_token: string | null; now: Date }

/** Once for each Idempotency-Key. */
async function answer(
  services: Services,
  route: Route,
  incoming: Incoming,
  { caller, session_token, now }: AskedBy,
  prepare: () => Promise<(db: Db) => Promise<Outgoing>>,
): Promise<Outgoing> {
  const key = one(incoming.headers['idempotency-key'])
  if (route.method !== 'POST' || key === undefined || isReading(route)) return (await prepare())(services.db)
  // Whoever brings no credentials is told apart by the address, lest strangers meet under one key.
  const who = caller ? callerId(caller) : `anonymous ${incoming.ip}`
  const request = {
    key,
    caller: who,
    path: incoming.url.pathname,
    session_token,
    bytes: incoming.raw.bytes,
    now,
  }
  return answerOnce(services, request, prepare)
}

/** Whatever was refused counts as a guess. A session opened beside a refusal says that the password was right. */
function isRightGuess({ status, session }: Outgoing): boolean {
  return status < 400 || Boolean(session)
}

async function identifyCaller(
  services: Services,
  access: Access,
  routes: ReadonlyMap<string, Route>,
  incoming: Incoming,
  parsed: () => Promise<unknown>,
  now: Date,
): Promise<Caller | null> {
  const caller = await identify(
    services.db,
    access,
    {
      authorization: one(incoming.headers.authorization),
      bodyKey: () => parsed().then(keyInBody, () => undefined),
      queryKey: incoming.query.personal_api_key,
      cookie: one(incoming.headers.cookie),
      ip: incoming.ip,
      onWrongKey: () => services.guesses.take({ kind: 'key', ip: incoming.ip, now }),
    },
    now,
  )
  const route = routes.get(incoming.method)
  // A wrong method on a path that anybody may call is just that: 405.
  const isOpen = (route ? [route] : [...routes.values()]).every(({ access }) => access === 'anyone')
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
  throw new ApiError('method_not_allowed', `${method} is not offered here.`, null, { allow })
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

function assertCredentialFits(services: Services, route: Route, caller: Caller, now: Date): void {
  if (caller.kind !== 'session') {
    services.throttle.take('key', caller.key.id, KEY_RATES, now)
    const { key_limit } = route
    if (key_limit) services.throttle.take(key_limit.name, caller.key.id, key_limit.rates, now)
  }
  assertScope(route, caller)
  assertSecondFactor(route, caller, caller.kind === 'session' && caller.session.is_second_factor_demanded)
}

/** Path ids are compared with stored text, and PostgreSQL takes neither NUL nor broken characters. */
function assertStorableParams(params: Record<string, string>): void {
  for (const value of Object.values(params)) {
    if (value === '' || !isStorableText(value)) throw notFound()
  }
}

function assertStorableQuery(query: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(query)) {
    const texts = Array.isArray(value) ? value : [value]
    if (texts.some((text) => typeof text === 'string' && !isStorableText(text))) {
      throw invalid(
        isStorableText(name) ? name : null,
        'invalid_input',
        'The parameter holds characters that cannot be stored.',
      )
    }
  }
}

/** A question sent by POST, because it is long or takes long: asking twice does no harm, and keeping its answers would. */
function isReading({ scope, is_question }: Route): boolean {
  return (
    is_question === true || (scope !== undefined && [scope].flat().every((each) => each.endsWith(':read')))
  )
}

/** The answer's schema decides what leaves: a field it does not name cannot leak. */
function outgoing(route: Route, answer: AnyAnswer): Outgoing {
  const { status, session, headers } = answer
  const schema = route.answers[status]
  if (schema === undefined) throw new Error(`${route.method} ${route.path} does not declare status ${status}`)
  const { ready } = answer
  return {
    status,
    json: schema === null || ready ? null : JSON.stringify(schema.parse(answer.body)),
    ...(ready === undefined ? {} : { ready }),
    ...(session === undefined ? {} : { session }),
    ...(headers === undefined ? {} : { headers }),
  }
}

/** A header given twice is no header we can trust: only the first counts. */
function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
