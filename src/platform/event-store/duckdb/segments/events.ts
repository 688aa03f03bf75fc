// Moves events from the journal into a table of the engine, and from there into files. Rows are numbered across all
// files of a project; a row group always holds the rows from one multiple of its size to the next, whatever file it is
// in. So the engine reads rows in the same portions however often files are merged, and a repeated export gives the
// same bytes.
import {
  BIGINT,
  DuckDBTimestampValue,
  DuckDBUUIDValue,
  TIMESTAMP,
  UTINYINT,
  UUID,
  VARCHAR,
  type DuckDBConnection,
} from '@duckdb/node-api'
import { HOT_PROPERTIES, hotColumn } from '../../layout.ts'
import type { EventColumns } from '../journal/section.ts'
import { appendRows, type Columns } from './table.ts'
import { EMPTY_MODE, fillVectors, type Vector } from './vectors.ts'

export const ROW_GROUP = 8_192

export const EVENT_COLUMNS: Columns = [
  ['seq', BIGINT],
  ['inserted_at', TIMESTAMP],
  ['uuid', UUID],
  ['event', VARCHAR],
  ['distinct_id', VARCHAR],
  ['timestamp', TIMESTAMP],
  ['created_at', TIMESTAMP],
  ['elements_chain', VARCHAR],
  ['person_mode', UTINYINT],
  ['person_id', UUID],
  ['person_properties', VARCHAR],
  ['properties', VARCHAR],
  ...HOT_PROPERTIES.map((property) => [hotColumn(property), VARCHAR] as const),
]

/** Events with the position and time of arrival from the journal. Some old ones have no person. */
export type PlacedEvents = Omit<EventColumns, 'person_id'> & {
  seq: number[]
  inserted_at: BigInt64Array
  person_id: (string | null)[]
}

export const uuidValue = (text: string) =>
  DuckDBUUIDValue.fromUint128(BigInt(`0x${text.replaceAll('-', '')}`))
const timeValue = (micros: bigint) => new DuckDBTimestampValue(micros)

/** Returns how many rows were added, and how far the last vector is filled. */
export async function appendEvents(
  connection: DuckDBConnection,
  table: string,
  events: PlacedEvents,
  begun: Vector,
): Promise<{ rows: number; vector: Vector }> {
  const { runs, vector } = fillVectors(
    begun,
    events.seq.map((_, at) => eventBytes(events, at)),
  )
  const places = runs.flatMap(({ from, end, empty }) => [
    ...range(from, end),
    // Empty rows repeat the position and times of the event before, so that the bounds used to skip rows stay narrow.
    ...Array.from({ length: empty }, () => -1 - Math.max(end - 1, 0)),
  ])
  await appendRows(connection, table, EVENT_COLUMNS, places, (part) => chunkColumns(events, part))
  return { rows: places.length, vector }
}

function range(from: number, end: number): number[] {
  return Array.from({ length: end - from }, (_, index) => from + index)
}

const NOBODY = uuidValue('00000000-0000-0000-0000-000000000000')

/** A negative place stands for an empty row. */
function chunkColumns(events: PlacedEvents, part: readonly number[]) {
  const at = (place: number) => (place < 0 ? -1 - place : place)
  const texts = (column: readonly string[]) => part.map((place) => (place < 0 ? '' : column[place]!))
  const times = (column: BigInt64Array) => part.map((place) => timeValue(column[at(place)]!))
  return [
    part.map((place) => BigInt(events.seq[at(place)]!)),
    times(events.inserted_at),
    part.map((place) => (place < 0 ? NOBODY : uuidValue(events.uuid[place]!))),
    texts(events.event),
    texts(events.distinct_id),
    times(events.timestamp),
    times(events.created_at),
    texts(events.elements_chain),
    part.map((place) => (place < 0 ? EMPTY_MODE : events.person_mode[place]!)),
    part.map((place) => personAt(events, place)),
    texts(events.person_properties),
    texts(events.properties),
    ...events.hot.map((column) => part.map((place) => (place < 0 ? null : column[place]!))),
  ]
}

function personAt({ person_id }: PlacedEvents, place: number): DuckDBUUIDValue | null {
  const id = place < 0 ? null : person_id[place]!
  return id === null ? null : uuidValue(id)
}

/** Bytes of the texts that clients can make long. */
function eventBytes({ properties, person_properties, elements_chain }: PlacedEvents, at: number): number {
  return [properties, person_properties, elements_chain].reduce(
    (sum, column) => sum + Buffer.byteLength(column[at]!),
    0,
  )
}
