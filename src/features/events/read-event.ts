// Events that no request brought, such as those of apps: held to the same rules as those of a request.
import { toPipelineEvent } from './capture/event-fields.ts'
import { parseJson } from './capture/parse-json.ts'
import { isObject, type JsonObject } from '../../lib/json-object.ts'
import type { PipelineEvent } from './pipeline-event.ts'

/** `text` is the JSON of one event as clients send it. Throws an error whose message says what is wrong. */
export function readEvent(text: string, now: Date): PipelineEvent {
  return toPipelineEvent(parseJson(text), [], { now, sent_at: null, sent_at_of_query: null })
}

/** `text` is the JSON of some properties of an event. Throws like readEvent. */
export function readProperties(text: string): JsonObject {
  const properties = parseJson(text)
  if (!isObject(properties)) throw new Error('`properties` must be an object.')
  return properties
}
