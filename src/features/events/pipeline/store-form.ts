// The last step: from an event of the pipeline to the row that the event store keeps.
import type { StoredEvent } from '../../../platform/event-store/event-store.ts'
import { HOT_PROPERTIES } from '../../../platform/event-store/layout.ts'
import { takeElementsChain } from './elements.ts'
import type { PipelineEvent } from '../pipeline-event.ts'

/** Who did it, with properties as JSON text. */
export type EventPerson = { id: string; properties: string }

/** The event's properties are used up: elements leave them for a column of their own. */
export function toStoredEvent(event: PipelineEvent, hasPerson: boolean, person: EventPerson): StoredEvent {
  const { properties } = event
  const elements_chain = takeElementsChain(properties)
  return {
    uuid: event.uuid,
    event: event.event,
    distinct_id: event.distinct_id,
    timestamp: event.timestamp,
    created_at: event.created_at,
    elements_chain,
    has_person: hasPerson,
    person_id: person.id,
    person_properties: person.properties,
    properties: JSON.stringify(properties),
    hot: HOT_PROPERTIES.map((name) => hotText(properties[name])),
  }
}

/** As filters compare it: strings as they are, everything else as compact JSON, null like missing. */
function hotText(value: unknown): string | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'string') return value
  const json = JSON.stringify(value)
  // A number beyond all doubles is stored as null.
  return json === 'null' ? null : json
}
