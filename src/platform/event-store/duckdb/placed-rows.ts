// Events that have their positions already, as rows of another store, by column.
import { HOT_PROPERTIES } from '../layout.ts'
import type { PlacedEvents } from './segments/events.ts'

/** Rows in the order of the table's columns: times in microseconds since 1970, ids as text. */
export function placed(found: readonly (readonly unknown[])[]): PlacedEvents {
  const column = <Value>(index: number) => found.map((row) => row[index] as Value)
  const times = (index: number) => BigInt64Array.from(column<bigint>(index))
  return {
    seq: column<bigint>(0).map(Number),
    inserted_at: times(1),
    uuid: column(2),
    event: column(3),
    distinct_id: column(4),
    timestamp: times(5),
    created_at: times(6),
    elements_chain: column(7),
    person_mode: column(8),
    person_id: column(9),
    person_properties: column(10),
    properties: column(11),
    hot: HOT_PROPERTIES.map((_, index) => column(12 + index)),
  }
}
