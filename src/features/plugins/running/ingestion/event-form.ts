// Events as processEvent knows them, and what it made of them.
import { isObject, type JsonObject } from '../../../../lib/json-object.ts'
import { formatMicros } from '../../../../lib/microseconds.ts'
import { AppFault, type EventPatch } from '../../../../platform/sandbox/sandbox.ts'
import type { PipelineEvent } from '../../../events/pipeline-event.ts'
import { readEvent } from '../../../events/read-event.ts'

export type FormContext = { project_id: number; site_url: string; now: Date }

const PERSON_FIELDS = ['$set', '$set_once'] as const

/** What is to be set on the person stands beside the properties. */
export function toAppEvent(event: PipelineEvent, { project_id, site_url, now }: FormContext): JsonObject {
  const form: JsonObject = {
    uuid: event.uuid,
    event: event.event,
    distinct_id: event.distinct_id,
    team_id: project_id,
    ip: null,
    site_url,
    now: now.toISOString(),
    timestamp: formatMicros(event.timestamp),
    properties: event.properties,
  }
  const lifted = PERSON_FIELDS.filter((name) => isObject(event.properties[name]))
  if (lifted.length === 0) return form
  const properties = { ...event.properties }
  for (const name of lifted) {
    form[name] = properties[name]
    delete properties[name]
  }
  return { ...form, properties }
}

/** The event with what the app has changed, which is held to what a client may send. Throws AppFault. */
export function applyPatch(
  before: PipelineEvent,
  form: JsonObject,
  { set, unset, properties }: EventPatch,
  { now }: FormContext,
): PipelineEvent {
  const gone = new Set(unset)
  const after = (name: string) =>
    Object.hasOwn(set, name) ? set[name] : gone.has(name) ? undefined : form[name]
  const timestamp = after('timestamp') ?? form.timestamp
  const changed: JsonObject = {
    event: after('event'),
    distinct_id: after('distinct_id'),
    timestamp,
    properties: properties.set,
  }
  const touched = PERSON_FIELDS.filter(
    (name) => Object.hasOwn(set, name) || gone.has(name) || Object.hasOwn(properties.set, name),
  )
  for (const name of touched) changed[name] = after(name)
  const read = readOrFail(JSON.stringify(changed), now)
  for (const name of [...properties.unset, ...touched]) delete before.properties[name]
  return {
    ...read,
    properties: Object.assign(before.properties, read.properties),
    uuid: before.uuid,
    timestamp: timestamp === form.timestamp ? before.timestamp : read.timestamp,
    created_at: before.created_at,
  }
}

function readOrFail(text: string, now: Date): PipelineEvent {
  try {
    return readEvent(text, now)
  } catch (error) {
    throw new AppFault('result', error instanceof Error ? error.message : 'This is no event.')
  }
}
