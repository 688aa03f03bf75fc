// What travels through the pipeline.
import type { JsonObject } from '../../lib/json-object.ts'

/** An event on its way from the request to the store. `properties` belongs to the pipeline: it may be changed. */
export type PipelineEvent = {
  uuid: string
  event: string
  distinct_id: string
  /** As parsed JSON, with `$set` and `$set_once` of the event's top level merged in. No key is `__proto__`. */
  properties: JsonObject
  /** Microseconds since 1970. */
  timestamp: bigint
  /** Sent as a number of milliseconds, and so apps find it. */
  is_time_numbered?: true
  created_at: bigint
}
