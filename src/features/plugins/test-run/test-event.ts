// The event of a test: what it lacks is made up, and what became of it is put together again.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import { randomUuid } from '../../../lib/uuid.ts'
import type { EventPatch } from '../../../platform/sandbox/sandbox.ts'
import type { PipelineEvent } from '../../events/pipeline-event.ts'
import { readEventTime } from '../../events/read-event.ts'
import { addressOf, uuidAfter } from '../running/ingestion/event-form.ts'

export type TestEvent = JsonObject & {
  uuid: string
  event: string
  distinct_id: string
  /** A number of milliseconds where it was sent as one: so apps find it. */
  timestamp: string | number
  properties: JsonObject
}

export function completeEvent(given: JsonObject, site_url: string, now: Date): TestEvent {
  const properties = isObject(given.properties) ? given.properties : {}
  return {
    team_id: 0,
    ip: addressOf(properties),
    site_url,
    now: now.toISOString(),
    ...given,
    uuid: textOr(given.uuid, randomUuid()),
    event: textOr(given.event, 'test event'),
    distinct_id: textOr(given.distinct_id, 'test'),
    timestamp: sentTime(given, now),
    properties,
  }
}

export function patched(event: TestEvent, patch: EventPatch): JsonObject {
  const fields = merged(event, patch)
  return {
    ...fields,
    uuid: uuidAfter(event.uuid, patch),
    properties: merged(event.properties, patch.properties),
  }
}

function merged(
  before: JsonObject,
  { set, unset }: { set: JsonObject; unset: readonly string[] },
): JsonObject {
  const fields = new Map(Object.entries(before))
  for (const key of unset) fields.delete(key)
  for (const [key, value] of Object.entries(set)) fields.set(key, value)
  return Object.fromEntries(fields)
}

/** As apps that come with the server see it. */
export function toPipelineEvent(event: TestEvent, now: Date): PipelineEvent {
  const { uuid, event: name, distinct_id, properties } = event
  return {
    uuid,
    event: name,
    distinct_id,
    properties: structuredClone(properties),
    ...readEventTime(event.timestamp, now),
    created_at: BigInt(now.getTime()) * 1000n,
  }
}

function sentTime({ timestamp }: JsonObject, now: Date): string | number {
  const { is_time_numbered } = readEventTime(timestamp, now)
  return is_time_numbered ? Number(timestamp) : textOr(timestamp, now.toISOString())
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise
}
