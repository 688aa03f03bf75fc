// How much there is to export, and in which pieces it can be read, alone or joined. Depends on the rows alone, so every
// attempt does the same.
import type { EventStore, PositionBlock, TimeSpan } from '../../../platform/event-store/event-store.ts'
import { PERSON_POSITION_BITS, type ExportRows } from '../../../platform/event-store/export-rows.ts'

/** As many as a row group of the store has: a piece that ends with one does not make the next piece read it again. */
const BLOCK_POSITIONS = 8_192
/** Persons lie far apart: 16,384 blocks hold some hundred each of ten million. */
const PERSON_BLOCK_POSITIONS = 2 ** (PERSON_POSITION_BITS - 14)
/** What one piece holds at most: some 40 MB of usual events, which any machine can sort in memory. */
export const MAX_PIECE_ROWS = 50_000

export async function planPieces(
  store: EventStore,
  rows: ExportRows,
  signal: AbortSignal,
): Promise<{ rows: number; pieces: PositionBlock[] }> {
  const size = rows.source.model === 'persons' ? PERSON_BLOCK_POSITIONS : BLOCK_POSITIONS
  const pieces = await store.countBlocks(rows, size, signal)
  return { rows: pieces.reduce((sum, piece) => sum + piece.rows, 0), pieces }
}

function joinedTo(one: PositionBlock, next: PositionBlock): PositionBlock {
  const times = one.times && next.times && hullOf(one.times, next.times)
  return { from: one.from, to: next.to, rows: one.rows + next.rows, ...(times ? { times } : {}) }
}

function hullOf(one: TimeSpan, other: TimeSpan): TimeSpan {
  return {
    from: one.from < other.from ? one.from : other.from,
    to: one.to > other.to ? one.to : other.to,
  }
}

/** Takes the first, and those after it as long as they have no more than `max_rows` together. */
export function takeJoined(left: PositionBlock[], max_rows: number): PositionBlock | null {
  let joined = left.shift()
  if (joined === undefined) return null
  while (left.length > 0 && joined.rows + left[0]!.rows <= max_rows) joined = joinedTo(joined, left.shift()!)
  return joined
}

/** Neighbours that together have no more than `max_rows` become one. */
export function joinBlocks(blocks: readonly PositionBlock[], max_rows: number): PositionBlock[] {
  const [left, joined] = [[...blocks], [] as PositionBlock[]]
  for (let next = takeJoined(left, max_rows); next; next = takeJoined(left, max_rows)) joined.push(next)
  return joined
}
