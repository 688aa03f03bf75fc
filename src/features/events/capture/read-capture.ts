// From the bytes of a capture request to its events. Runs on the main thread for small bodies and in parse-thread.ts for
// the rest, so it knows neither HTTP nor database.
import { setImmediate } from 'node:timers/promises'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { PipelineEvent } from '../pipeline-event.ts'
import { readInstant, readSentMs } from '../pipeline/event-time.ts'
import { findToken, openEnvelope, tokenAmong, type Envelope } from './envelope.ts'
import { toPipelineEvent } from './event-fields.ts'
import { parseJson } from './parse-json.ts'
import { Refusal, tooLarge, type Fault } from './refusal.ts'
import { toJsonText, unpack, type Packed } from './unpack.ts'

export type CaptureBody = Packed & {
  /** Milliseconds since 1970, as the query tells them. */
  sent_ms: string | undefined
  /** Name of an event that has none. */
  missing_name: string | undefined
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
const EVENTS_PER_TURN = 250

/** Throws a Refusal when the body cannot be read or names no token. `limit` is for the unpacked body, in bytes. */
export async function readCapture(body: CaptureBody, limit: number): Promise<Reading> {
  const { value, bytes, outer_token } = await readValue(body, limit)
  const envelope = openEnvelope(value)
  const token = findToken(envelope, outer_token)
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

export async function readValue(packed: Packed, limit: number): Promise<Value> {
  const { text, api_key } = await unpack(packed, limit)
  const value = parseJson(text)
  if (!isWrapped(value)) return { value, bytes: Buffer.byteLength(text), outer_token: api_key }
  const outer_token = tokenAmong(value) ?? api_key
  const { data } = value
  if (typeof data !== 'string') return { value: data, bytes: Buffer.byteLength(text), outer_token }
  const inner = await toJsonText(data, compressionOf(value), limit)
  return { value: parseJson(inner), bytes: Buffer.byteLength(inner), outer_token }
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
  const events: PipelineEvent[] = []
  for (const [index, item] of envelope.items.entries()) {
    if (index % EVENTS_PER_TURN === EVENTS_PER_TURN - 1) await setImmediate()
    const path = envelope.pathOf(index)
    // No event of a small body can be large.
    if (bytes > MAX_EVENT_BYTES) assertSize(item, path)
    events.push(toPipelineEvent(item, path, time, body.missing_name))
  }
  return events
}

function assertSize(item: unknown, path: readonly string[]): void {
  if (Buffer.byteLength(JSON.stringify(item)) > MAX_EVENT_BYTES)
    throw tooLarge(
      `${path.length === 0 ? 'The event' : `Event ${path.at(-1)}`} is over 1 MB.`,
      path.join('__') || null,
    )
}
