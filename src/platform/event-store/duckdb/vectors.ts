// DuckDB packs and reads a column by vectors of 2,048 rows, and has all values of one in memory while it does. Two thousand
// events of a megabyte would take more than a small machine has: they could be neither stored nor read. So there are empty
// rows between, which the views that everybody reads leave out. Where an event would be too much for a vector, the rest of
// it stays empty. Persons and groups are replaced as they change, and those behind them move up: each has empty rows of
// its own, by its size, which are deleted with it.
import { BIGINT, DuckDBTimestampValue, type DuckDBConnection } from '@duckdb/node-api'
import type { EventColumns } from './columns.ts'
import { rows, run } from './statements.ts'

const VECTOR_ROWS = 2048
/** Reached by events of more than 8 kB on average. A statement holds a few copies, and several run at once. */
const VECTOR_BYTES = 16 * 1024 * 1024

/** In person_mode, where events have 0 or 1: as long as there are none, the engine sees that by its bounds. */
export const EMPTY_MODE = 2

/** In created_at of persons and groups, by whose bounds the engine sees the same. */
const EMPTY_CREATED_AT = DuckDBTimestampValue.NegInf.micros
export const IS_COPY = "created_at > '-infinity'"

const BYTES_PER_ROW = VECTOR_BYTES / VECTOR_ROWS

/** Each with the empty rows that belong to it. */
export function spreadOut<Copy extends { properties: string; created_at: bigint }>(
  copies: readonly Copy[],
): Copy[] {
  return copies.flatMap((copy) => {
    const count = Math.floor(Buffer.byteLength(copy.properties) / BYTES_PER_ROW)
    const empty = { ...copy, created_at: EMPTY_CREATED_AT, properties: '' }
    return [copy, ...Array.from({ length: count }, () => empty)]
  })
}

/** What the vector has that was begun last. */
export type Vector = { rows: number; bytes: number }

/** The next rows, up to `end`, and how many empty ones follow. */
type Run = { end: number; empty: number }

export function fillVectors(
  begun: Vector,
  sizes: readonly number[],
  max_bytes = VECTOR_BYTES,
): { runs: Run[]; vector: Vector } {
  let { rows, bytes } = begun
  const runs: Run[] = []
  for (const [index, size] of sizes.entries()) {
    if (rows > 0 && bytes + size > max_bytes) {
      runs.push({ end: index, empty: VECTOR_ROWS - rows })
      rows = bytes = 0
    }
    rows++
    bytes += size
    if (rows === VECTOR_ROWS) rows = bytes = 0
  }
  return { runs: [...runs, { end: sizes.length, empty: 0 }], vector: { rows, bytes } }
}

/** Of the texts that clients can make long. */
export function eventBytes(
  { properties, person_properties, elements_chain }: EventColumns,
  at: number,
): number {
  return [properties, person_properties, elements_chain].reduce(
    (sum, column) => sum + Buffer.byteLength(column[at]!),
    0,
  )
}

/** Rows are never deleted from the table, so the last ones have the highest ids. */
export async function readLastVector(connection: DuckDBConnection, event_rows: string): Promise<Vector> {
  const [counted] = await rows(connection, `SELECT count(*) FROM ${event_rows}`)
  const total = Number(counted![0])
  const begun = total % VECTOR_ROWS
  const [sum] = await rows(
    connection,
    `SELECT sum(strlen(properties) + strlen(person_properties) + strlen(elements_chain))
     FROM ${event_rows} WHERE rowid >= ${total - begun}`,
  )
  return { rows: begun, bytes: Number(sum![0] ?? 0) }
}

/** Like the event before as to position and times, so that the bounds by which rows are passed over stay narrow. */
export async function appendEmptyRows(
  connection: DuckDBConnection,
  event_rows: string,
  count: number,
  like: { seq: number; inserted_at: bigint; time: bigint },
): Promise<void> {
  const values = [BigInt(like.seq), like.inserted_at, like.time, BigInt(count)]
  await run(
    connection,
    `INSERT INTO ${event_rows} (seq, inserted_at, uuid, event, distinct_id, timestamp, created_at, elements_chain,
       person_mode, person_properties, properties)
     SELECT $1, make_timestamp($2), '00000000-0000-0000-0000-000000000000', '', '', make_timestamp($3),
       make_timestamp($3), '', ${EMPTY_MODE}, '', '' FROM range($4)`,
    values,
    values.map(() => BIGINT),
  )
}
