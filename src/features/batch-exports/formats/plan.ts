// How much there is to export, and in which pieces it is read. Depends on the rows alone, so every attempt does the same.
import type { EventStore, PositionBlock, TimeSpan } from '../../../platform/event-store/event-store.ts'
import type { ExportRows } from '../../../platform/event-store/export-rows.ts'

const BLOCK_POSITIONS = 16_384
/** What one piece holds at most: some 40 MB of usual events, which any machine can sort in memory. */
export const MAX_PIECE_ROWS = 50_000

export async function planPieces(
  store: EventStore,
  rows: ExportRows,
  signal: AbortSignal,
): Promise<{ rows: number; pieces: PositionBlock[] }> {
  const blocks = await store.countBlocks(rows, BLOCK_POSITIONS, signal)
  const pieces = joinBlocks(blocks, MAX_PIECE_ROWS)
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

/** Neighbours that together have no more than `max_rows` become one. */
export function joinBlocks(blocks: readonly PositionBlock[], max_rows: number): PositionBlock[] {
  const joined: PositionBlock[] = []
  for (const block of blocks) {
    const last = joined.at(-1)
    if (last && last.rows + block.rows <= max_rows) {
      joined[joined.length - 1] = joinedTo(last, block)
    } else {
      joined.push(block)
    }
  }
  return joined
}
