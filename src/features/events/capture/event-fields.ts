// One item of a request, checked and brought into the form of the pipeline.
import { readUuid, uuid7 } from '../../../lib/uuid.ts'
import { cutText } from '../pipeline/cut-text.ts'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { PipelineEvent } from '../pipeline-event.ts'
import { eventTime, isNumberedTime, readInstant } from '../pipeline/event-time.ts'
import { lowerOptions } from './analytics-v1.ts'
import { invalidPayload, type Refusal } from './refusal.ts'

/** What the items of a request have in common. */
export type RequestTime = {
  now: Date
  /** As the body says, or null. */
  sent_at: bigint | null
  /** As the query says: counts when nothing nearer the event does. */
  sent_at_of_query: bigint | null
}

const MAX_NAME = 200

/** What the path lets events be: one without a name gets `missing_name`. */
export type EventForm = { missing_name?: string | undefined; is_v1?: boolean }

/** Throws a Refusal. */
export function toPipelineEvent(
  item: unknown,
  path: readonly string[],
  time: RequestTime,
  { missing_name, is_v1 = false }: EventForm = {},
): PipelineEvent {
  const refuse = (field: string | null, problem: string): Refusal =>
    invalidPayload(
      path.length === 0 ? problem : `Event ${path.at(-1)}: ${problem}`,
      [...path, ...(field === null ? [] : [field])].join('__') || null,
    )
  if (!isObject(item)) throw refuse(null, 'an event must be an object.')
  const properties = item.properties ?? {}
  if (!isObject(properties)) throw refuse('properties', '`properties` must be an object.')
  const event = textOf(item.event) ?? missing_name
  if (event === undefined || event === '') throw refuse('event', '`event` must be given and not empty.')
  const distinctId = textOf(item.distinct_id) ?? textOf(item.$distinct_id) ?? textOf(properties.distinct_id)
  if (distinctId === undefined || distinctId === '')
    throw refuse('distinct_id', '`distinct_id` must be given and not empty.')
  const uuid = uuidOf(item.uuid, time.now)
  if (uuid === null) throw refuse('uuid', '`uuid` is not a UUID.')
  if (is_v1) lowerOptions(item, properties)
  mergeInto(properties, '$set', item.$set)
  mergeInto(properties, '$set_once', item.$set_once)
  const now = BigInt(time.now.getTime()) * 1000n
  const timestamp = eventTime({
    now,
    timestamp: item.timestamp,
    sent_at: time.sent_at ?? readInstant(item.sent_at) ?? time.sent_at_of_query,
    offset: item.offset,
    ignore_sent_at: properties.$ignore_sent_at === true,
  })
  return {
    uuid,
    event: cutText(event, MAX_NAME),
    distinct_id: cutText(distinctId, MAX_NAME),
    properties,
    timestamp,
    ...(isNumberedTime(item.timestamp) ? { is_time_numbered: true } : {}),
    created_at: now,
  }
}

/** Undefined for what is missing or null; everything but text as JSON. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Null when it is no UUID. */
function uuidOf(value: unknown, now: Date): string | null {
  if (value === undefined || value === null || value === '') return uuid7(now)
  return typeof value === 'string' ? readUuid(value) : null
}

/** Over the same keys inside the properties. */
function mergeInto(properties: JsonObject, name: '$set' | '$set_once', given: unknown): void {
  if (!isObject(given)) return
  const inside = properties[name]
  properties[name] = { ...(isObject(inside) ? inside : {}), ...given }
}
