// Events as processEvent knows them, and what it made of them.
import { isObject, type JsonObject } from '../../../../lib/json-object.ts'
import { formatMicros } from '../../../../lib/microseconds.ts'
import { AppFault, type EventPatch } from '../../../../platform/sandbox/sandbox.ts'
import type { PipelineEvent } from '../../../events/pipeline-event.ts'
import { readEvent } from '../../../events/read-event.ts'

export type FormContext = { project_id: number; site_url: string; now: Date }

/** What is to be set on the person stands beside the properties. */
export function toAppEvent(event: PipelineEvent, { project_id, site_url, now }: FormContext): JsonObject {
  const { $set, $set_once, ...rest } = event.properties
  const form: JsonObject = {
    uuid: event.uuid,
    event: event.event,
    distinct_id: event.distinct_id,
    team_id: project_id,
    ip: null,
    site_url,
    now: now.toISOString(),
    timestamp: formatMicros(event.timestamp),
    properties: rest,
  }
  lift(form, rest, '$set', $set)
  lift(form, rest, '$set_once', $set_once)
  return form
}

function lift(form: JsonObject, properties: JsonObject, name: '$set' | '$set_once', value: unknown): void {
  if (value === undefined) return
  if (isObject(value)) form[name] = value
  else properties[name] = value
}

/** The event after the app has changed its form, held to what a client may send. Throws AppFault. */
export function applyPatch(
  before: PipelineEvent,
  form: JsonObject,
  patch: EventPatch,
  { now }: FormContext,
): PipelineEvent {
  const after = patched(form, patch)
  const { event, distinct_id, properties, $set, $set_once } = after
  const timestamp = after.timestamp ?? form.timestamp
  const text = JSON.stringify({ event, distinct_id, timestamp, properties, $set, $set_once })
  const read = readOrFail(text, now)
  return {
    ...read,
    uuid: before.uuid,
    timestamp: timestamp === form.timestamp ? before.timestamp : read.timestamp,
    created_at: before.created_at,
  }
}

function patched(form: JsonObject, { set, unset, properties }: EventPatch): JsonObject {
  const after = without({ ...form, ...set }, unset)
  if (isObject(after.properties))
    after.properties = without({ ...after.properties, ...properties.set }, properties.unset)
  return after
}

/** Changes and returns it. */
function without(object: JsonObject, names: readonly string[]): JsonObject {
  for (const name of names) delete object[name]
  return object
}

function readOrFail(text: string, now: Date): PipelineEvent {
  try {
    return readEvent(text, now)
  } catch (error) {
    throw new AppFault('result', error instanceof Error ? error.message : 'This is no event.')
  }
}
