// Stretches of positions, and how many of the positions have an event. Pure.
import type { PositionRange } from './event-store.ts'

/** `holes` do not overlap each other. */
export function countEvents({ from, to }: PositionRange, holes: readonly PositionRange[]): number {
  const missing = holes.map((hole) => Math.max(0, Math.min(to, hole.to) - Math.max(from, hole.from)))
  return missing.reduce((left, count) => left - count, Math.max(0, to - from))
}

/** The first position that has an event; null when none has. `holes` are in order. */
export function firstEvent({ from, to }: PositionRange, holes: readonly PositionRange[]): number | null {
  let first = from + 1
  for (const hole of holes) if (first > hole.from && first <= hole.to) first = hole.to + 1
  return first <= to ? first : null
}
