// Areas of the plane of positions and times: the condition that an event lies in one, and the statement that measures them
// with one read for all.
import type { Area, EventChoice } from '../export-rows.ts'
import { newParameters, type Parameters } from './parameters.ts'
import type { Statement } from './statements.ts'

/** `position` and `time` are columns. */
export function areaCondition(
  { seq_from, seq_to, time_from, time_to }: Area,
  { position, time }: { position: string; time: string },
  { whole, instant }: Parameters,
): string {
  return [
    `${position} > ${whole(seq_from)}`,
    `${position} <= ${whole(seq_to)}`,
    ...(time_from === null ? [] : [`${time} >= ${instant(time_from)}`]),
    ...(time_to === null ? [] : [`${time} < ${instant(time_to)}`]),
  ].join(' AND ')
}

/** Answers with one row: for each area how many rows it has, and its first and last time in milliseconds since 1970. */
export function areasSql({ query }: EventChoice, areas: readonly Area[]): Statement {
  const { sql, time } = query
  const parameters = newParameters(query.parameters)
  const figures = areas.map((area) => {
    const inArea = `FILTER (WHERE ${areaCondition(area, query, parameters)})`
    return `count(*) ${inArea}, epoch_ms(min(${time}) ${inArea}), epoch_ms(max(${time}) ${inArea})`
  })
  // Blocks of the table outside of this are not read.
  const around = areaCondition(hullOf(areas), query, parameters)
  return { sql: `SELECT ${figures.join(', ')} FROM (${sql}) WHERE ${around}`, parameters: parameters.bound }
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
