// An event in the forms that apps know.
import type { JsonObject } from '../../../lib/json-object.ts'
import { CAPTURED_BY } from '../running/host/captures.ts'
import type { StoredEvent } from './stored-events.ts'

type Stored = Omit<StoredEvent, 'seq'>

/** For onEvent and exportEvents. */
export function toProcessedEvent(project_id: number, event: Stored): JsonObject {
  const { $set, $set_once } = event.properties
  return {
    uuid: event.uuid,
    event: event.event,
    distinct_id: event.distinct_id,
    ip: null,
    team_id: project_id,
    properties: event.properties,
    timestamp: event.timestamp,
    ...($set === undefined ? {} : { $set }),
    ...($set_once === undefined ? {} : { $set_once }),
    elements: [],
  }
}

/** For composeWebhook, which finds a Date in place of the timestamp. */
export function toWebhookEvent(project_id: number, event: Stored): JsonObject {
  return {
    uuid: event.uuid,
    event: event.event,
    team_id: project_id,
    distinct_id: event.distinct_id,
    properties: event.properties,
    timestamp: event.timestamp,
  }
}

/** What an app has sent itself, it must not get back: it could send again, and so on for ever. */
export function isOwnEvent(config_id: number, { properties }: StoredEvent): boolean {
  return properties[CAPTURED_BY] === config_id
}
