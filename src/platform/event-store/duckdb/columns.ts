// Events on their way into the store's thread: by column, which costs a third of what objects cost to hand over.
import type { Copies, ProjectWrite, StoredEvent } from '../event-store.ts'

export type EventColumns = {
  uuid: string[]
  event: string[]
  distinct_id: string[]
  timestamp: BigInt64Array
  created_at: BigInt64Array
  elements_chain: string[]
  person_mode: Uint8Array
  person_id: string[]
  person_properties: string[]
  properties: string[]
  /** One list per hot property. */
  hot: (string | null)[][]
}

export type ProjectColumns = { project_id: number; events: EventColumns; copies: Copies }

export function toColumns({ project_id, events, ...copies }: ProjectWrite): ProjectColumns {
  const hotCount = events[0]?.hot.length ?? 0
  return {
    project_id,
    events: {
      uuid: events.map((event) => event.uuid),
      event: events.map((event) => event.event),
      distinct_id: events.map((event) => event.distinct_id),
      timestamp: micros(events, 'timestamp'),
      created_at: micros(events, 'created_at'),
      elements_chain: events.map((event) => event.elements_chain),
      person_mode: Uint8Array.from(events, (event) => (event.has_person ? 0 : 1)),
      person_id: events.map((event) => event.person_id),
      person_properties: events.map((event) => event.person_properties),
      properties: events.map((event) => event.properties),
      hot: Array.from({ length: hotCount }, (_, index) => events.map((event) => event.hot[index] ?? null)),
    },
    copies,
  }
}

function micros(events: readonly StoredEvent[], field: 'timestamp' | 'created_at'): BigInt64Array {
  const column = new BigInt64Array(events.length)
  for (const [index, event] of events.entries()) column[index] = event[field]
  return column
}
