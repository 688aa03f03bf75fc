// What engines answer when exports ask for figures, as the interface tells it. Times come in milliseconds since 1970.
import type { Measured, PositionBlock, PositionRange, TimeSpan } from './event-store.ts'

export const NOTHING: Measured = { rows: 0, first_at: null, last_at: null }

export function measuredBy([rows, first_at, last_at]: readonly unknown[]): Measured {
  return { rows: Number(rows), first_at: new Date(Number(first_at)), last_at: new Date(Number(last_at)) }
}

/** The first and the last time were cut to milliseconds; there are none where none were asked for. */
export function spanOf([first_ms, last_ms]: readonly unknown[]): { times?: TimeSpan } {
  if (first_ms === undefined) return {}
  return { times: { from: new Date(Number(first_ms)), to: new Date(Number(last_ms) + 1) } }
}

/** The stretches of a range, each told by its last position, its rows and its times. */
export function stretchesIn(
  { from, to }: PositionRange,
  found: readonly (readonly unknown[])[],
): PositionBlock[] {
  if (found.length === 0) return [{ from, to, rows: 0 }]
  const ends = [from, ...found.slice(0, -1).map(([last]) => Number(last)), to]
  return found.map(([, count, ...times], index) => ({
    from: ends[index]!,
    to: ends[index + 1]!,
    rows: Number(count),
    ...spanOf(times),
  }))
}
