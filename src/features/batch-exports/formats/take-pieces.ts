// The next so many rows of a plan: its pieces joined, or cut at the exact row. `stagePieces` takes them one by one.
import type { EventStore, ExportRows, PositionBlock } from '../../../platform/event-store/event-store.ts'
import { joinBlocks } from './plan.ts'

/** Takes pieces of at most `max_rows` rows each until null: none is left. */
export function pieceTaker(
  store: EventStore,
  rows: ExportRows,
  pieces: readonly PositionBlock[],
  signal: AbortSignal,
): (max_rows: number) => Promise<PositionBlock | null> {
  let left = [...pieces]
  return async (max_rows) => {
    const [first] = left
    if (first === undefined) return null
    if (first.rows > max_rows) {
      left = [...(await cutPiece(store, rows, first, max_rows, signal)), ...left.slice(1)]
    }
    const [joined] = joinBlocks(left, max_rows)
    while (left.length > 0 && left[0]!.to <= joined!.to) left.shift()
    return joined!
  }
}

async function cutPiece(
  store: EventStore,
  rows: ExportRows,
  piece: PositionBlock,
  max_rows: number,
  signal: AbortSignal,
): Promise<PositionBlock[]> {
  const positions = await positionsIn(store, rows, piece, signal)
  const cuts: PositionBlock[] = []
  for (let start = 0; start < positions.length; start += max_rows) {
    const end = Math.min(start + max_rows, positions.length)
    cuts.push({ from: cuts.at(-1)?.to ?? piece.from, to: positions[end - 1]!, rows: end - start })
  }
  return cuts
}

/** Where each row of the piece is. */
async function positionsIn(
  store: EventStore,
  rows: ExportRows,
  { from, to, rows: count }: PositionBlock,
  signal: AbortSignal,
): Promise<number[]> {
  // Without a gap: no need to look.
  if (to - from === count) return Array.from({ length: count }, (_, index) => from + index + 1)
  const { length } = rows.parameters
  const within: ExportRows = {
    ...rows,
    sql: `SELECT r.position FROM (${rows.sql}) AS r WHERE r.position > $${length + 1} AND r.position <= $${length + 2}`,
    parameters: [...rows.parameters, from, to],
  }
  const singles = await store.countBlocks(within, 1, signal)
  return singles.map((single) => single.to)
}
