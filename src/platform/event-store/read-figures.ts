// What engines answer when exports ask for figures, as the interface tells it. Times come in milliseconds since 1970.
import type { Measured, TimeSpan } from './event-store.ts'

export const NOTHING: Measured = { rows: 0, first_at: null, last_at: null }

export function measuredBy([rows, first_at, last_at]: readonly unknown[]): Measured {
  return { rows: Number(rows), first_at: new Date(Number(first_at)), last_at: new Date(Number(last_at)) }
}

/** The first and the last time were cut to milliseconds; there are none where none were asked for. */
export function spanOf([first_ms, last_ms]: readonly unknown[]): { times?: TimeSpan } {
  if (first_ms === undefined) return {}
  return { times: { from: new Date(Number(first_ms)), to: new Date(Number(last_ms) + 1) } }
}
