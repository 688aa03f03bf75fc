// From the bytes of a capture request to its events. Runs on the main thread for small bodies and in parse-thread.ts for
// the rest, so it knows neither HTTP nor database.
import { setImmediate } from 'node:timers/promises'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { PipelineEvent } from '../pipeline-event.ts'
import { readInstant, readSentMs } from '../pipeline/event-time.ts'
import { findToken, openEnvelope, tokenAmong, type Envelope } from './envelope.ts'
import { toPipelineEvent } from './event-fields.ts'
import { parseJson } from './parse-json.ts'
import { invalidPayload, Refusal, tooLarge, type Fault } from './refusal.ts'
import { toJsonText, unpack, type Packed, type UnpackLimits } from './unpack.ts'
import { weigh } from './weigh.ts'

/** How much a body may become, here. */
export type ReadLimits = UnpackLimits & { values: number }

/** Waits until this body may be parsed: that holds the thread. */
export type Turn = () => Promise<void>

export type CaptureBody = Packed & {
  /** Counts when the body names none. */
  outer_token: string | undefined
  /** Milliseconds since 1970, as the query tells them. */
  sent_ms: string | undefined
  /** Name of an event that has none. */
  missing_name: string | undefined
  /** The events have fields and options of analytics-v1.ts. */
  is_v1?: boolean
  now: Date
}

export type Reading = {
  token: string
  /** Size of the JSON text. */
  bytes: number
  /** The events happened elsewhere and earlier: the sender's address is not theirs. */
  is_historical: boolean
  /** Empty when there is a fault. */
  events: PipelineEvent[]
  /** What is wrong with an event. Told only once the token is known to be good, so it is not thrown. */
  fault: Fault | null
}

const MAX_EVENT_BYTES = 1024 * 1024
// Everybody waits while an event of twice as many is handed from thread to thread.
const MAX_EVENT_VALUES = 20_000
// They are stored in one commit, and others wait for it.
const MAX_EVENTS = 20_000
const EVENTS_PER_TURN = 250
const AT_ONCE: Turn = async () => undefined

/** Throws a Refusal when the body cannot be read or names no token. */
export async function readCapture(
  body: CaptureBody,
  limits: ReadLimits,
  turn: Turn = AT_ONCE,
): Promise<Reading> {
  const { value, bytes, outer_token } = await readValue(body, limits, turn)
  const envelope = openEnvelope(value)
  const token = findToken(envelope, outer_token ?? body.outer_token)
  const is_historical = envelope.fields.historical_migration === true
  try {
    return { token, bytes, is_historical, events: await readEvents(envelope, body, bytes), fault: null }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { token, bytes, is_historical, events: [], fault: error.fault }
  }
}

type Value = {
  value: unknown
  /** Size of its JSON text. */
  bytes: number
  /** From around the value: a field of the form, or of an object that holds everything under `data`. */
  outer_token: unknown
}

export async function readValue(packed: Packed, limits: ReadLimits, turn: Turn): Promise<Value> {
  const { text, api_key } = await unpack(packed, limits)
  await turn()
  const value = parseJson(text, limits.values)
  if (!isWrapped(value)) return { value, bytes: Buffer.byteLength(text), outer_token: api_key }
  const outer_token = tokenAmong(value) ?? api_key
  const { data } = value
  if (typeof data !== 'string') return { value: data, bytes: Buffer.byteLength(text), outer_token }
  const inner = await toJsonText(data, compressionOf(value), limits)
  return { value: parseJson(inner, limits.values), bytes: Buffer.byteLength(inner), outer_token }
}

function isWrapped(value: unknown): value is JsonObject & { data: string | object } {
  if (!isObject(value) || Object.hasOwn(value, 'event') || Object.hasOwn(value, 'batch')) return false
  return typeof value.data === 'string' || (typeof value.data === 'object' && value.data !== null)
}

function compressionOf(value: JsonObject): string {
  return typeof value.compression === 'string' ? value.compression : ''
}

async function readEvents(envelope: Envelope, body: CaptureBody, bytes: number): Promise<PipelineEvent[]> {
  const time = {
    now: body.now,
    sent_at: readInstant(envelope.fields.sent_at),
    sent_at_of_query: readSentMs(body.sent_ms),
  }
  if (envelope.items.length > MAX_EVENTS)
    throw tooLarge(`A request may hold ${MAX_EVENTS} events at most: send smaller batches.`)
  const events: PipelineEvent[] = []
  for (const [index, item] of envelope.items.entries()) {
    if (index % EVENTS_PER_TURN === EVENTS_PER_TURN - 1) await setImmediate()
    const path = envelope.pathOf(index)
    // No event of a small body can be large.
    if (bytes > MAX_EVENT_VALUES) assertSize(item, path)
    if (path.length === 0) assertSomethingSent(item, body)
    events.push(toPipelineEvent(item, path, time, body))
  }
  return events
}

/** A body that is no batch is taken for an event; whoever forgot `batch` would hear of `event` alone. */
function assertSomethingSent(item: unknown, { missing_name }: CaptureBody): void {
  if (missing_name !== undefined || !isObject(item) || Object.hasOwn(item, 'event')) return
  throw invalidPayload('`event` must be given and not empty, or `batch` must hold a list of events.', 'event')
}

function assertSize(item: unknown, path: readonly string[]): void {
  const { values, characters } = weigh(item)
  const name = path.length === 0 ? 'The event' : `Event ${path.at(-1)}`
  const attr = path.join('__') || null
  if (values > MAX_EVENT_VALUES) throw tooLarge(`${name} holds over ${MAX_EVENT_VALUES} values.`, attr)
  // No number takes more in JSON, and no character more than its escape.
  if (32 * values + 6 * characters <= MAX_EVENT_BYTES) return
  if (Buffer.byteLength(JSON.stringify(item)) > MAX_EVENT_BYTES) throw tooLarge(`${name} is over 1 MB.`, attr)
}
