// Which properties of a project get a column of their own: from what is kept so far, how often each was read, and the day.
import type { KeptColumn } from '../segments/manifest.ts'

/** Each takes room in every file, and a little time when events are brought into files. */
export const MAX_COLUMNS = 16
/** So many questions of late (reads.ts). */
export const MIN_READS = 5
/** A column that nobody has read for so many days goes. */
export const UNUSED_DAYS = 30
/** One that nobody has read for so many days makes room for another. */
const SPARE_DAYS = 7

/** How often a property was read of late, and the last day on which it was. */
export type Read = { count: number; day: number }

/** In the order in which they came: the same list means that nothing changed. */
export function chooseColumns(
  kept: readonly KeptColumn[],
  reads: ReadonlyMap<string, Read>,
  today: number,
): KeptColumn[] {
  const still = kept
    .map(({ property, day }) => ({ property, day: Math.max(day, reads.get(property)?.day ?? 0) }))
    .filter(({ day }) => today - day < UNUSED_DAYS)
  const isKept = new Set(still.map(({ property }) => property))
  const candidates = [...reads]
    .filter(([property, { count }]) => count >= MIN_READS && !isKept.has(property))
    .toSorted(([, one], [, other]) => other.count - one.count)
    .map(([property, { day }]) => ({ property, day }))
  const room = MAX_COLUMNS - still.length
  const spare = still.filter(({ day }) => today - day >= SPARE_DAYS).toSorted((a, b) => a.day - b.day)
  const leaving = new Set(spare.slice(0, Math.max(0, candidates.length - room)))
  return [...still.filter((column) => !leaving.has(column)), ...candidates.slice(0, room + leaving.size)]
}
