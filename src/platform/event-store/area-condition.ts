// Areas of the plane of positions and times: the condition that an event lies in one, and what is around many.
import type { Spelling } from './area-tree.ts'
import type { Area } from './export-rows.ts'

/** `position` and `time` are columns. */
export function areaCondition(
  { seq_from, seq_to, time_from, time_to }: Area,
  { position, time }: { position: string; time: string },
  { whole, instant }: Spelling,
): string {
  return [
    `${position} > ${whole(seq_from)}`,
    `${position} <= ${whole(seq_to)}`,
    ...(time_from === null ? [] : [`${time} >= ${instant(time_from)}`]),
    ...(time_to === null ? [] : [`${time} < ${instant(time_to)}`]),
  ].join(' AND ')
}

/** The smallest area around all of them. */
export function hullOf(areas: readonly Area[]): Area {
  return areas.reduce((hull, area) => ({
    seq_from: Math.min(hull.seq_from, area.seq_from),
    seq_to: Math.max(hull.seq_to, area.seq_to),
    time_from: farther(hull.time_from, area.time_from, Math.min),
    time_to: farther(hull.time_to, area.time_to, Math.max),
  }))
}

function farther(
  one: Date | null,
  other: Date | null,
  choose: (one: number, other: number) => number,
): Date | null {
  return one && other && new Date(choose(one.getTime(), other.getTime()))
}
