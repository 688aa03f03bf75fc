// From the fields of a row, whoever wrote the file, to an event of the pipeline.
import { formatMicros } from '../../../lib/microseconds.ts'
import { isUuid, uuid5 } from '../../../lib/uuid.ts'
import { toPipelineEvent } from '../capture/event-fields.ts'
import { invalidPayload } from '../capture/refusal.ts'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { PipelineEvent } from '../pipeline-event.ts'
import { readInstant } from '../pipeline/event-time.ts'
import { readElements } from './elements-column.ts'
import { asJson, isGiven } from './field-values.ts'

/** What an event takes from its place in the file when it says nothing itself. */
export type RowPlace = {
  /** Identifies the file. */
  identity: string
  line: number
  /** When the import began; a later run of the same import says the same. */
  started_at: Date
}

/** For the ids of rows that have none: the same file gives the same ids, so that the store recognises a row it has. */
const NAMESPACE = '5b1c8a52-9b7e-4c1d-8a0e-6f3d2f1c7e94'
const FLAT_PROPERTY = 'properties.'

/** Throws a Refusal that says what is wrong. */
export function toEvent(fields: JsonObject, place: RowPlace): PipelineEvent {
  const timestamp = isGiven(fields.timestamp) ? readTime(fields.timestamp) : null
  const item = {
    event: fields.event,
    distinct_id: fields.distinct_id ?? fields.$distinct_id,
    uuid: idOf(fields) ?? uuid5(NAMESPACE, `${place.identity}:${place.line}`),
    properties: propertiesOf(fields),
    $set: objectOf(fields, ['$set', 'set', 'people_set']),
    $set_once: objectOf(fields, ['$set_once', 'set_once', 'people_set_once']),
    ...(timestamp === null ? {} : { timestamp: formatMicros(timestamp) }),
  }
  const time = { now: place.started_at, sent_at: null, sent_at_of_query: null }
  const event = toPipelineEvent(item, [], time)
  // Capture blames a wrong clock for a time in the future and puts its own instead; here the file can be corrected.
  if (timestamp !== null && event.timestamp !== timestamp)
    throw invalidPayload('`timestamp` lies in the future')
  return event
}

function idOf({ uuid, id }: JsonObject): unknown {
  if (isGiven(uuid)) return uuid
  return typeof id === 'string' && isUuid(id) ? id : null
}

function propertiesOf(fields: JsonObject): JsonObject {
  const properties = objectOf(fields, ['properties']) ?? flatProperties(fields)
  if (isGiven(fields.ip) && !Object.hasOwn(properties, '$ip')) properties.$ip = fields.ip
  const hasOwnElements =
    Object.hasOwn(properties, '$elements') || Object.hasOwn(properties, '$elements_chain')
  if (!hasOwnElements) Object.assign(properties, readElements(fields))
  return properties
}

/** The first of these columns that holds something; undefined when none does. */
function objectOf(fields: JsonObject, names: readonly string[]): JsonObject | undefined {
  for (const name of names) {
    const value = asJson(fields[name])
    if (!isGiven(value)) continue
    if (!isObject(value)) throw invalidPayload(`\`${name}\` must be an object`)
    return value
  }
  return undefined
}

/** The CSV of the events listing has a column for each property. */
function flatProperties(fields: JsonObject): JsonObject {
  const flat = Object.entries(fields).filter(
    ([name]) => name.startsWith(FLAT_PROPERTY) && name !== `${FLAT_PROPERTY}__proto__`,
  )
  return Object.fromEntries(
    flat.map(([name, value]) => [name.slice(FLAT_PROPERTY.length), plainValue(value)]),
  )
}

/** Text that is a number or a boolean as JSON writes them was one before it became a cell. */
function plainValue(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (/^(true|false)$/i.test(value)) return value.toLowerCase() === 'true'
  return value !== '' && String(Number(value)) === value && Number.isFinite(Number(value))
    ? Number(value)
    : value
}

/** Text as people and databases write it, microseconds of a Parquet file, or a Unix time by its number of digits. */
function readTime(value: unknown): bigint {
  const micros = typeof value === 'bigint' ? inRange(value) : (unixTime(String(value)) ?? readInstant(value))
  if (micros === null) throw invalidPayload(`\`timestamp\` is not a time: ${String(value).slice(0, 100)}`)
  return micros
}

function inRange(micros: bigint): bigint | null {
  const year = new Date(Number(micros / 1000n)).getUTCFullYear()
  return year >= 1 && year <= 9999 ? micros : null
}

/** Seconds, milliseconds or microseconds. */
function unixTime(text: string): bigint | null {
  const [, whole, fraction = ''] = /^(\d{10}|\d{13}|\d{16})(?:\.(\d+))?$/.exec(text) ?? []
  return whole === undefined ? null : BigInt((whole + fraction).padEnd(16, '0').slice(0, 16))
}
