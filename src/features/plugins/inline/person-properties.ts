// Where an event carries properties: its own, and those that it gives to the person.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { PipelineEvent } from '../../events/pipeline-event.ts'

/** The event's properties, then `$set` and `$set_once` where there are any. */
export function everyPropertySet({ properties }: PipelineEvent): JsonObject[] {
  return [properties, properties.$set, properties.$set_once].filter(isObject)
}
