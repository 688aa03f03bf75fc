// DuckDB packs and reads a column by vectors of 2,048 rows, and has all values of one in memory while it does. Two thousand
// events of a megabyte would take more than a small machine has: they could be neither stored nor read. So there are empty
// rows between, which the views that everybody reads leave out. Where an event would be too much for a vector, the rest of
// it stays empty. Persons and groups each have empty rows of their own, by their size, which are replaced with them.

export const VECTOR_ROWS = 2048
/** Reached by events of more than 2 kB on average. A row group has four vectors, and a statement a few copies of them. */
const VECTOR_BYTES = 4 * 1024 * 1024

/** In person_mode, where events have 0 or 1: as long as there are none, the engine sees that by its bounds. */
export const EMPTY_MODE = 2

const BYTES_PER_ROW = VECTOR_BYTES / VECTOR_ROWS

/** How many empty rows belong to a person or group. */
export function emptyRowsFor(properties: string): number {
  return Math.floor(Buffer.byteLength(properties) / BYTES_PER_ROW)
}

/** What the vector has that was begun last. */
export type Vector = { rows: number; bytes: number }

/** The next rows, and how many empty ones follow. */
type Run = { from: number; end: number; empty: number }

export function fillVectors(
  begun: Vector,
  sizes: readonly number[],
  max_bytes = VECTOR_BYTES,
): { runs: Run[]; vector: Vector } {
  let { rows, bytes } = begun
  let from = 0
  const runs: Run[] = []
  for (const [index, size] of sizes.entries()) {
    if (rows > 0 && bytes + size > max_bytes) {
      runs.push({ from, end: index, empty: VECTOR_ROWS - rows })
      from = index
      rows = bytes = 0
    }
    rows++
    bytes += size
    if (rows === VECTOR_ROWS) rows = bytes = 0
  }
  return { runs: [...runs, { from, end: sizes.length, empty: 0 }], vector: { rows, bytes } }
}
