// The last requests of a directory, with their answers: the first thing to look at when it does not sync. Tokens and passwords
// are left out before anything is written.
import { isObject, type JsonObject } from '../../lib/json-object.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql, type Statement } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/paging.ts'

export const KEPT_REQUESTS = 1_000
const MAX_BODY = 4_000
const MAX_PATH = 1_000
const SECRET = /password|secret|token|credential|apikey|api_key/i
/** The others mean nothing to the service, and may hold anything. */
const LOGGED_PARAMETERS = [
  'filter',
  'startIndex',
  'count',
  'sortBy',
  'sortOrder',
  'attributes',
  'excludedAttributes',
]
const PRUNE_EVERY = 50

export type RequestRow = {
  id: string
  created_at: Date
  method: string
  path: string
  status: number
  duration_ms: number
  request_body: string | null
  response_body: string | null
}

type Logged = Pick<RequestRow, 'created_at' | 'method' | 'path' | 'status' | 'duration_ms'> & {
  request: unknown
  response: unknown
}

export async function logRequest(db: Db, domainId: string, logged: Logged): Promise<void> {
  const { created_at, method, path, status, duration_ms, request, response } = logged
  const { id } = await db.only<{ id: string }>(sql`
    INSERT INTO scim_request (domain_id, created_at, method, path, status, duration_ms, request_body, response_body)
    VALUES (${domainId}, ${created_at}, ${method}, ${path.slice(0, MAX_PATH)}, ${status}, ${duration_ms},
      ${textOf(request)}, ${textOf(response)}) RETURNING id`)
  if (Number(id) % PRUNE_EVERY === 0) await prune(db, domainId)
}

/** The rest of them is gone by the next round, and not shown until then. */
async function prune(db: Db, domainId: string): Promise<void> {
  await db.run(sql`
    DELETE FROM scim_request WHERE domain_id = ${domainId} AND id <= (
      SELECT id FROM scim_request WHERE domain_id = ${domainId} ORDER BY id DESC OFFSET ${KEPT_REQUESTS} LIMIT 1)`)
}

/** The path without the address of the service, with those parameters that mean something. */
export function loggedPath(path: readonly string[], query: JsonObject): string {
  const given = LOGGED_PARAMETERS.flatMap((name) =>
    typeof query[name] === 'string' ? [[name, query[name]] as [string, string]] : [],
  )
  const parameters = new URLSearchParams(given).toString()
  return `/${path.join('/')}${parameters === '' ? '' : `?${parameters}`}`
}

function textOf(body: unknown): string | null {
  if (body === undefined || body === null) return null
  const text = JSON.stringify(withoutSecrets(body))
  // Cut between characters: half of a pair cannot be stored.
  return text.length <= MAX_BODY ? text : `${text.slice(0, MAX_BODY).toWellFormed()}…`
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (!isObject(value)) return value
  // PATCH names the attribute in `path`.
  const isSecret = typeof value.path === 'string' && SECRET.test(value.path)
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      SECRET.test(key) || (isSecret && key.toLowerCase() === 'value') ? '(left out)' : withoutSecrets(each),
    ]),
  )
}

export function listRequests(db: Db, domainId: string, { limit, offset }: Page): Promise<RequestRow[]> {
  return db.rows(sql`
    SELECT * FROM scim_request WHERE domain_id = ${domainId}
    ORDER BY id DESC LIMIT ${Math.max(0, Math.min(limit, KEPT_REQUESTS - offset))} OFFSET ${offset}`)
}

export async function countRequests(db: Db, domainId: string): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM (
      SELECT FROM scim_request WHERE domain_id = ${domainId} LIMIT ${KEPT_REQUESTS}) AS kept`)
  return row.count
}

export async function lastRequestAt(db: Db, domainId: string): Promise<Date | null> {
  const row = await db.row<{ created_at: Date }>(sql`
    SELECT created_at FROM scim_request WHERE domain_id = ${domainId} ORDER BY id DESC LIMIT 1`)
  return row?.created_at ?? null
}

/** Requests about somebody whose account is deleted keep when and how they were answered, and lose what was in them. */
export async function eraseRequests(
  tx: Db,
  domainIds: readonly string[],
  { id, addresses }: { id: number; addresses: readonly string[] },
): Promise<void> {
  const known = await tx.rows<{ id: string; user_name: string }>(
    sql`SELECT id, user_name FROM scim_user WHERE user_id = ${id}`,
  )
  // Whom the directory took away before is known by the requests about them alone.
  const former = await tx.rows<{ id: string | null }>(sql`
    SELECT DISTINCT CASE method WHEN 'POST' THEN substring(response_body FROM '"id":"([0-9a-f-]{36})"')
      ELSE substring(path FROM '^/Users/([0-9a-f-]{36})') END AS id
    FROM scim_request WHERE path LIKE '/Users%' AND path NOT LIKE '/Users/.%' AND ${mentions(domainIds, addresses)}`)
  const ids = [...known, ...former].flatMap((each) => each.id ?? [])
  // A name may be part of another word; an address or an id is not.
  const names = known.map(({ user_name }) => `"${user_name}"`)
  await tx.run(sql`
    UPDATE scim_request SET path = '/' || split_part(split_part(path, '?', 1), '/', 2), request_body = NULL,
      response_body = NULL
    WHERE ${mentions(domainIds, [...addresses, ...ids, ...names])}`)
}

/** Requests of these domains in which one of the texts stands, as it is or as addresses spell it. */
function mentions(domainIds: readonly string[], texts: readonly string[]): Statement {
  const spellings = texts.flatMap((text) => [text, new URLSearchParams({ '': text }).toString().slice(1)])
  return sql`domain_id = ANY(${domainIds}::uuid[]) AND EXISTS (
    SELECT FROM unnest(${spellings.map((text) => text.toLowerCase())}::text[]) AS given (text)
    WHERE position(text IN lower(concat(path, request_body, response_body))) > 0)`
}

const KEPT_DAYS = 30

/** Timetable entry: they hold names and addresses of people, so they do not stay for ever. */
export async function forgetOldRequests(db: Db, now: Date): Promise<number> {
  const oldest = new Date(now.getTime() - KEPT_DAYS * 24 * 60 * 60 * 1000)
  return db.run(sql`DELETE FROM scim_request WHERE created_at < ${oldest}`)
}
