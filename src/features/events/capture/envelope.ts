// Which events a body holds and whose they are, whatever its shape.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import { invalidPayload, Refusal } from './refusal.ts'

export type Envelope = {
  items: readonly unknown[]
  /** Fields beside the list of a batch. */
  fields: JsonObject
  /** Where an item stands, for `attr`. */
  pathOf(index: number): readonly string[]
}

const TOKEN_FIELDS = ['api_key', 'token', '$token']
const MAX_TOKEN_LENGTH = 64
const PERSONAL_KEY_START = 'phx_'

export function openEnvelope(body: unknown): Envelope {
  if (Array.isArray(body))
    return { items: atLeastOne(body, null), fields: {}, pathOf: (index) => [String(index)] }
  if (!isObject(body)) throw invalidPayload('The body must be an event, a list of events or a batch.')
  if (!Object.hasOwn(body, 'batch')) return { items: [body], fields: {}, pathOf: () => [] }
  const { batch, ...fields } = body
  if (!Array.isArray(batch)) throw invalidPayload('`batch` must be a list of events.', 'batch')
  return { items: atLeastOne(batch, 'batch'), fields, pathOf: (index) => ['batch', String(index)] }
}

function atLeastOne(items: unknown[], attr: string | null): unknown[] {
  if (items.length === 0) throw invalidPayload('There is no event in the body.', attr)
  return items
}

/** The first found of the body, its events (which must agree) and the form. */
export function findToken({ fields, items }: Envelope, inForm: unknown): string {
  const inBody = tokenAmong(fields)
  if (inBody !== undefined) return assertToken(inBody)
  const inEvents = new Set(
    items
      .filter(isObject)
      .map(tokenOfEvent)
      .filter((token) => token !== undefined),
  )
  if (inEvents.size > 1) throw invalidToken('The events of one request must carry the same project token.')
  const [token = inForm] = inEvents
  return assertToken(token)
}

function tokenOfEvent(event: JsonObject): unknown {
  return tokenAmong(event) ?? (isObject(event.properties) ? trimmed(event.properties.token) : undefined)
}

/** Undefined when there is none. */
export function tokenAmong(fields: JsonObject): unknown {
  return TOKEN_FIELDS.map((name) => trimmed(fields[name])).find((token) => token !== undefined)
}

function trimmed(token: unknown): unknown {
  return typeof token === 'string' ? token.trim() : (token ?? undefined)
}

/** Throws for what cannot be a project token; whether there is such a project is for the database to say. */
export function assertToken(given: unknown): string {
  const token = trimmed(given)
  if (token === undefined || token === '')
    throw new Refusal({
      code: 'missing_api_key',
      detail: "Send the project's token as `api_key`.",
      attr: null,
    })
  if (typeof token !== 'string') throw invalidToken('The project token must be a text.')
  if (token.startsWith(PERSONAL_KEY_START))
    throw invalidToken('This is a personal API key; events are sent with the token of a project.')
  if (token.length > MAX_TOKEN_LENGTH || !/^[\x20-\x7e]+$/.test(token))
    throw invalidToken('The project token is malformed.')
  return token
}

export function invalidToken(detail: string): Refusal {
  return new Refusal({ code: 'invalid_api_key', detail, attr: null })
}
