// The event of a test: what it lacks is made up, and it is read as capture and ingestion read it.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import { formatMicros } from '../../../lib/microseconds.ts'
import { invalid } from '../../../platform/http/errors.ts'
import type { PipelineEvent } from '../../events/pipeline-event.ts'
import { readEvent } from '../../events/read-event.ts'
import { toAppEvent, type FormContext } from '../running/ingestion/event-form.ts'

/** Throws 400 for what capture refuses. */
export function readTestEvent(given: JsonObject, now: Date): PipelineEvent {
  const { properties, event = null, $distinct_id = null, distinct_id = $distinct_id } = given
  const inside = isObject(properties) ? properties.distinct_id : null
  const made = { event: event ?? 'test event', distinct_id: distinct_id ?? inside ?? 'test' }
  try {
    return readEvent(JSON.stringify({ ...given, ...made }), now)
  } catch (error) {
    throw invalid('event', 'invalid_input', error instanceof Error ? error.message : 'This is no event.')
  }
}

/** As it would be stored, with what apps find beside that. */
export function presentEvent(event: PipelineEvent, context: FormContext): JsonObject {
  const { $set: _, $set_once: __, ...fields } = toAppEvent(event, context).fields
  return { ...fields, properties: event.properties }
}

/** In the form of events that are stored already. */
export function toStored({ uuid, event, distinct_id, timestamp, properties }: PipelineEvent) {
  return { uuid, event, distinct_id, timestamp: formatMicros(timestamp), properties }
}
