// Areas of the plane of positions and times: the condition that an event lies in one, and the statement that measures many
// with one read.
import type { Area, EventChoice } from '../export-rows.ts'
import { placeOfArea } from './area-tree.ts'
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

/**
 * Answers with a row for each area that holds any: its place in the list, how many rows it has, and its first and last time
 * in milliseconds since 1970.
 */
export function areasSql({ query }: EventChoice, areas: readonly Area[]): Statement {
  const { sql, position, time } = query
  const parameters = newParameters(query.parameters)
  const hull = hullOf(areas)
  // Blocks of the table outside of this are not read.
  const around = areaCondition(hull, query, parameters)
  const range = { from: hull.seq_from, to: hull.seq_to }
  const place = placeOfArea(areas, range, { position: 'position', time: 'time' }, parameters)
  return {
    sql: `
      SELECT place, count(*), epoch_ms(min(time)), epoch_ms(max(time)) FROM (
        SELECT time, ${place} AS place
        FROM (SELECT ${position} AS position, ${time} AS time FROM (${sql}) WHERE ${around}))
      WHERE place IS NOT NULL GROUP BY place`,
    parameters: parameters.bound,
  }
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
