// One request from credentials to answer, in the fixed order of conventions.md §1. Everything slices rely on.
import { admit, type Admitted, type Asked } from './admit.ts'
import { assertMayChangeAccount, isAccountChange, whileCallerLasts } from './recent-sign-in.ts'
import type { Access } from './access.ts'
import { isStorableText, parseBody, type RawBody } from './body.ts'
import { callerId, type Caller } from './caller.ts'
import { invalid } from './errors.ts'
import { answerOnce } from './idempotency.ts'
import { one, sessionToken } from './identify.ts'
import { pageAnswer, readPage, urlWith } from './paging.ts'
import type { AnyAnswer, CheckedLive, ReadyText, Route, SessionCookie, SmallCookie } from './route.ts'
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
  /** In place of both: a stream, which `check` lets go on. */
  live?: CheckedLive
  session?: SessionCookie
  cookie?: SmallCookie
  headers?: Record<string, string>
}

/** Facts for the access log, filled in as they become known. */
export type RequestNotes = { caller?: string; organization_id?: string; project_id?: number; tool?: string }

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
      routes.get(incoming.method),
    ),
  )
  const asked = { services, access, routes, incoming, parsed }
  const admitted = await admit(asked, now, notes)
  const { route, caller } = admitted
  const context = contextOf(asked, admitted, now)
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
      outgoing(route, await route.handle(Object.assign(checked, { db, proof }) as never), () =>
        checkAgain(asked),
      )
    return changing ? (db: Db) => whileCallerLasts(db, access, changing, handle) : handle
  }
  const perform = () => answer(services, route, incoming, context, prepare)
  if (!route.guesses) return perform()
  return services.guesses.during({ kind: route.guesses, ip: incoming.ip, now }, perform, isRightGuess)
}

function contextOf({ services, incoming }: Asked, { caller, reached }: Admitted, now: Date) {
  const page = readPage(incoming.query)
  return {
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
}

/** For a stream that was let in some time ago: throws what a new request for it would be refused with. */
async function checkAgain(asked: Asked): Promise<void> {
  const now = asked.services.now()
  const admitted = await admit(asked, now)
  await admitted.route.item?.(contextOf(asked, admitted, now) as never)
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
function outgoing(route: Route, answer: AnyAnswer, check: () => Promise<void>): Outgoing {
  const { status, session, cookie, headers, live } = answer
  const schema = route.answers[status]
  if (schema === undefined) throw new Error(`${route.method} ${route.path} does not declare status ${status}`)
  const { ready } = answer
  return {
    status,
    json: schema === null || ready ? null : JSON.stringify(schema.parse(answer.body)),
    ...(ready === undefined ? {} : { ready }),
    ...(live === undefined ? {} : { live: { ...live, check } }),
    ...(session === undefined ? {} : { session }),
    ...(cookie === undefined ? {} : { cookie }),
    ...(headers === undefined ? {} : { headers }),
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
