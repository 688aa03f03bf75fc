// A route is data: what it is, what it demands, what it takes and gives, and what it does. The order of the keys is the
// order of the checks. Router, OpenAPI document and the every-route test all read the same list.
import type { z } from 'zod'
import type { Db } from '../db/database.ts'
import type { Services } from '../services.ts'
import type { OrganizationInReach, ProjectInReach } from './access.ts'
import type { Caller, Level, LevelName } from './caller.ts'
import type { GuessKind } from './guesses.ts'
import type { LiveAnswer } from './live/live-answer.ts'
import type { Page, PagedAnswer } from './paging.ts'
import type { AccountChange } from './recent-sign-in.ts'
import type { Scope } from './scopes.ts'
import type { Rate } from './throttle.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a caller must bring: a key scope (or a session), just any credential, a session and no key, or nothing. */
type Demand<A extends AccessName | undefined> =
  | { scope: Scope | readonly Scope[]; access?: undefined }
  | { access: A; scope?: undefined }

type AccessName = 'credential' | 'session' | 'anyone'

export type Answers = Record<number, z.ZodType | null>

/** Sent as it is, in place of a body made from the schema: CSV, and long lists that are written piece by piece. */
export type ReadyText = { content_type: string; text: string | AsyncIterable<string> }

/** A stream, and how it is made sure from time to time that its caller may still have it. */
export type CheckedLive = LiveAnswer & { check(): Promise<void> }

/** Sent beside an answer: the session cookie to set, or null to clear it. */
export type SessionCookie = { token: string; max_age_s: number } | null

/** Another cookie beside an answer: for the whole site, out of reach of scripts, not sent along by other sites; null ends it. */
export type SmallCookie = { name: string; value: string | null; max_age_s: number }

type Answer<A extends Answers> = {
  [Status in keyof A & number]: {
    status: Status
    session?: SessionCookie
    cookie?: SmallCookie
    headers?: Record<string, string>
  } & (
    | { body: A[Status] extends z.ZodType ? z.input<A[Status]> : null }
    | { ready: ReadyText }
    | { live: LiveAnswer }
  )
}[keyof A & number]

/** Path parameters by name, taken from the path itself. */
type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { [K in Name]: string } & ParamsOf<`/${Rest}`>
  : unknown

/** The thing the path's own `:id` names; strangers get 404 for it, while paths below it answer 403. */
export type Subject = 'organization' | 'project'

export type RequestFacts = {
  ip: string
  id: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** This request's absolute address with some parameters set, or dropped where null: for links to other pages. */
  urlWith(parameters: Record<string, string | null>): string
  /** Aborted when the client leaves before it has its answer: for work that nobody else wants. */
  signal: AbortSignal | undefined
}

type Inside<Path extends string, S> = (S extends 'organization'
  ? { organization: OrganizationInReach; level: Level }
  : Path extends `${string}:organization_id${string}`
    ? { organization: OrganizationInReach; level: Level }
    : unknown) &
  (S extends 'project'
    ? { project: ProjectInReach; level: Level }
    : Path extends `${string}:project_id${string}`
      ? { project: ProjectInReach; level: Level }
      : unknown)

type Context<
  Path extends string,
  S extends Subject | undefined,
  C extends Caller | null,
  Query,
  Body,
  Item = unknown,
  Proof = unknown,
> = {
  services: Services
  /** A plain connection, or the transaction of an idempotent request: always use this one. */
  db: Db
  caller: C
  /** The session cookie as sent: only for paths that open, prove or close a session. */
  session_token: string | null
  params: ParamsOf<Path>
  query: Query
  body: Body
  /** What the route's `item` found. */
  item: Item
  /** What the route's `prove` found. */
  proof: Proof
  page: Page
  paged: <Item>(count: number, results: Item[]) => PagedAnswer<Item>
  request: RequestFacts
  now: Date
} & Inside<Path, S>

type CallerFor<A> = A extends 'anyone'
  ? Caller | null
  : A extends 'session'
    ? Extract<Caller, { kind: 'session' }>
    : Caller

type RouteSpec<
  Path extends string,
  S extends Subject | undefined,
  Access extends AccessName | undefined,
  Query extends z.ZodType | undefined,
  Body extends z.ZodType | undefined,
  Item,
  Proof,
  A extends Answers,
> = {
  method: Method
  path: Path
  summary: string
  subject?: S
  level?: LevelName
  /** Sessions need a sign-in of the last two hours; keys are exempt. */
  needs_recent_sign_in?: true
  /** Could hand an account to somebody else: sessions need a sign-in of the last 15 minutes, keys must be unlimited. */
  changes_account?: AccountChange<Body extends z.ZodType ? keyof z.output<Body> & string : never>
  /** Usable while an organization's two-factor rule keeps the session from everything else. */
  without_second_factor?: true
  /** Speaks of the caller alone, so limits of its key to organizations or projects do not matter. */
  is_about_caller?: true
  /** Changes nothing, though it is a POST and takes a scope to write. */
  is_question?: true
  /** What a request here is a try at: counted by the caller's address and network, and kept over restarts. */
  guesses?: GuessKind
  /** Per API key, counted apart from and besides what holds for all paths. */
  key_limit?: KeyLimit
  /** Asks something that takes long of many events or persons, and is stopped then: 504. */
  may_time_out?: true
  /** Browsers are sent here by other sites, with a POST: nothing of it may rest on the cookies that come along. */
  takes_other_sites?: true
  /** Media types a successful answer may have besides JSON. */
  also_answers?: readonly string[]
  /** The answer is a stream of server-sent events: what the data of each kind of message is. */
  messages?: Readonly<Record<string, z.ZodType>>
  /** Finds what the path's last id names (404) and settles the right to it (403), both before the body is looked at. */
  item?(context: Context<Path, S, CallerFor<Access>, unknown, undefined>): Promise<Item>
  query?: Query
  body?: Body
  /** Bodies for the documentation, by what each is for: one for every way to use the route. */
  examples?: Body extends z.ZodType ? Readonly<Record<string, z.input<Body>>> : never
  /** Where the usual limit on bodies is too low. */
  max_body_bytes?: number
  /** Where the usual limit on urlencoded forms is too low, because one field of them is long. */
  max_form_bytes?: number
  /** Files in forms reach the body as UploadedFile. */
  takes_files?: true
  /**
   * Slow work on the checked body, ahead of the transaction of an idempotent request: no connection and no lock is held
   * while a hash is computed, and no rollback takes a counted failure back.
   */
  prove?(context: Context<Path, S, CallerFor<Access>, QueryOf<Query>, BodyOf<Body>, Item>): Promise<Proof>
  answers: A
  handle(
    context: Context<Path, S, CallerFor<Access>, QueryOf<Query>, BodyOf<Body>, Item, Proof>,
  ): Promise<Answer<A>>
} & Demand<Access>

type QueryOf<Query> = Query extends z.ZodType ? z.output<Query> : Record<string, unknown>
type BodyOf<Body> = Body extends z.ZodType ? z.output<Body> : undefined

/** Routes of one `name` are counted together. */
export type KeyLimit = { name: string; rates: readonly Rate[] }

/** A route with its types worn off: what router, document and tests work on. */
export type Route = {
  method: Method
  path: string
  summary: string
  scope?: Scope | readonly Scope[]
  access?: AccessName
  subject?: Subject
  level?: LevelName
  needs_recent_sign_in?: true
  changes_account?: AccountChange
  without_second_factor?: true
  is_about_caller?: true
  is_question?: true
  guesses?: GuessKind
  key_limit?: KeyLimit
  may_time_out?: true
  takes_other_sites?: true
  also_answers?: readonly string[]
  messages?: Readonly<Record<string, z.ZodType>>
  item?(context: never): Promise<unknown>
  query?: z.ZodType
  body?: z.ZodType
  examples?: Readonly<Record<string, unknown>>
  max_body_bytes?: number
  max_form_bytes?: number
  takes_files?: true
  prove?(context: never): Promise<unknown>
  answers: Answers
  handle(context: never): Promise<AnyAnswer>
}

export type AnyAnswer = {
  status: number
  body?: unknown
  ready?: ReadyText
  live?: LiveAnswer
  session?: SessionCookie
  cookie?: SmallCookie
  headers?: Record<string, string>
}

export function route<
  const Path extends string,
  A extends Answers,
  const Access extends AccessName | undefined = undefined,
  const S extends Subject | undefined = undefined,
  Query extends z.ZodType | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Item = undefined,
  Proof = undefined,
>(spec: RouteSpec<Path, S, Access, Query, Body, Item, Proof, A>): Route {
  return spec as unknown as Route
}

export function ok<Body>(body: Body) {
  return { status: 200 as const, body }
}

/** The text is the whole body; the route's schema only describes it. */
export function ready(content_type: string, text: string | AsyncIterable<string>) {
  return { status: 200 as const, ready: { content_type, text } }
}

export function created<Body>(body: Body) {
  return { status: 201 as const, body }
}

/** For browsers: go there, with a GET. */
export function seeOther(location: string) {
  return { status: 303 as const, body: null, headers: { location } }
}

export function noContent() {
  return { status: 204 as const, body: null }
}
