// /Bulk (RFC 7644 §3.7): several requests in one, each carried out or refused by itself. What one has made others name by its
// bulkId; an operation that names one which is not there yet waits for it.
import { isObject, type JsonObject } from '../../lib/json-object.ts'
import { takeFromRate, type Directory } from './directory.ts'
import { answer, type Answer, type Asked } from './endpoints.ts'
import { MAX_BULK_OPERATIONS } from './protocol/documents.ts'
import { refused, ScimError, toScimError } from './protocol/scim-error.ts'

const BULK_RESPONSE = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse'
const REFERENCE = /^bulkId:(.{1,200})$/s
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE']

type Operation = {
  method: string
  path: string
  bulk_id: string | null
  version: string | null
  data: unknown
}
type Result = { operation: Operation; location: string | null; status: number; response: JsonObject | null }

/** `onFault` hears of what was no fault of the directory's. */
export async function answerBulk(
  directory: Directory,
  { method, body }: Asked,
  onFault: (error: unknown) => void,
): Promise<Answer> {
  if (method !== 'POST') throw new ScimError(405, null, `${method} is not offered here.`, { allow: 'POST' })
  const { operations, fail_on_errors } = readBulk(body)
  takeFromRate(directory, operations.length)
  const results = new Map<Operation, Result>()
  const ids = new Map<string, string>()
  let errors = 0
  let waiting = operations
  while (waiting.length > 0 && errors < fail_on_errors) {
    const ready = waiting.filter((operation) => unknownIn(operation, ids) === null)
    // Those that are left wait for each other, or for something that nobody makes.
    const stuck = ready.length === 0
    for (const operation of stuck ? waiting : ready) {
      if (errors >= fail_on_errors) break
      const result = stuck
        ? failed(operation, unresolved(operation, ids))
        : await perform(directory, operation, ids, onFault)
      results.set(operation, result)
      if (result.status >= 400) errors += 1
    }
    waiting = waiting.filter((operation) => !results.has(operation))
    if (stuck) break
  }
  const answered = operations.flatMap((operation) => results.get(operation) ?? [])
  return { status: 200, body: { schemas: [BULK_RESPONSE], Operations: answered.map(present) } }
}

function readBulk(body: unknown): { operations: Operation[]; fail_on_errors: number } {
  const list = isObject(body) ? (body.Operations ?? body.operations) : undefined
  if (!Array.isArray(list)) throw refused('invalidSyntax', 'Operations is missing, or is not a list.')
  if (list.length > MAX_BULK_OPERATIONS)
    throw new ScimError(413, null, `More than ${MAX_BULK_OPERATIONS} operations are not taken.`)
  const limit = (body as JsonObject).failOnErrors
  return {
    operations: list.map(readOperation),
    fail_on_errors: typeof limit === 'number' && limit >= 1 ? limit : Infinity,
  }
}

function readOperation(given: unknown): Operation {
  if (!isObject(given)) throw refused('invalidSyntax', 'An operation is not an object.')
  const { method, path, bulkId, version, data } = given
  const verb = String(method).toUpperCase()
  if (!METHODS.includes(verb)) throw refused('invalidSyntax', 'method is POST, PUT, PATCH or DELETE.')
  if (typeof path !== 'string') throw refused('invalidSyntax', 'An operation has no path.')
  const bulk_id = typeof bulkId === 'string' && bulkId !== '' ? bulkId : null
  if (verb === 'POST' && bulk_id === null) throw refused('invalidSyntax', 'A POST has no bulkId.')
  return { method: verb, path, bulk_id, version: typeof version === 'string' ? version : null, data }
}

async function perform(
  directory: Directory,
  operation: Operation,
  ids: Map<string, string>,
  onFault: (error: unknown) => void,
): Promise<Result> {
  const { method, bulk_id, version, data } = operation
  const path = operation.path.split('/').filter((part) => part !== '')
  try {
    const { status, body, headers } = await answer(directory, {
      method,
      path: path.map((part) => resolved(part, ids) as string),
      query: {},
      body: resolved(data, ids),
      if_match: version ?? undefined,
      if_none_match: undefined,
    })
    if (method === 'POST' && bulk_id !== null && typeof body?.id === 'string') ids.set(bulk_id, body.id)
    const id = typeof body?.id === 'string' ? body.id : path[1]
    const location = headers?.location ?? `${directory.base}/${path[0]}/${String(resolved(id, ids))}`
    return { operation, location, status, response: null }
  } catch (error) {
    const fault = toScimError(error)
    if (fault.status >= 500) onFault(error)
    return failed(operation, fault)
  }
}

function failed(operation: Operation, error: ScimError): Result {
  return { operation, location: null, status: error.status, response: error.body() }
}

function unresolved(operation: Operation, ids: ReadonlyMap<string, string>): ScimError {
  return new ScimError(409, null, `bulkId:${unknownIn(operation, ids)} names nothing that was made here.`)
}

/** The first bulkId that is named and not known. */
function unknownIn({ path, data }: Operation, ids: ReadonlyMap<string, string>): string | null {
  const named = [...path.split('/'), ...textsIn(data)].flatMap((text) => REFERENCE.exec(text)?.[1] ?? [])
  return named.find((bulkId) => !ids.has(bulkId)) ?? null
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

function resolved(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return ids.get(REFERENCE.exec(value)?.[1] ?? '') ?? value
  if (Array.isArray(value)) return value.map((each) => resolved(each, ids))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolved(each, ids)]))
}

function present({ operation, location, status, response }: Result): JsonObject {
  const { method, bulk_id } = operation
  return {
    method,
    ...(bulk_id === null ? {} : { bulkId: bulk_id }),
    ...(location === null ? {} : { location }),
    status: String(status),
    ...(response === null ? {} : { response }),
  }
}
