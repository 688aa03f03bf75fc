// The next rows of a plan: its pieces joined, or cut at the exact row. `stagePieces` takes them one by one.
import type { EventStore, PositionBlock } from '../../../platform/event-store/event-store.ts'
import type { ExportRows } from '../../../platform/event-store/export-rows.ts'
import { takeJoined } from './plan.ts'

/** Takes pieces of at most `max_rows` rows each until null: none is left. */
export function pieceTaker(
  store: EventStore,
  rows: ExportRows,
  pieces: readonly PositionBlock[],
  isParquet: boolean,
  signal: AbortSignal,
): (max_rows: number) => Promise<PositionBlock | null> {
  const left = [...pieces]
  let taken: PositionBlock[] = []
  const takeByRows = async (max_rows: number): Promise<PositionBlock | null> => {
    const [first] = left
    if (first && first.rows > max_rows)
      left.splice(0, 1, ...(await store.cutRows(rows, first, max_rows, signal)))
    return takeJoined(left, max_rows)
  }
  return async (max_rows) => {
    if (taken.length === 0) {
      const piece = await takeByRows(max_rows)
      if (piece === null) return null
      taken = isParquet ? await store.cutForParquet(rows, piece, signal) : [piece]
    }
    return taken.shift()!
  }
}
