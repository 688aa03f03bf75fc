// How this engine is asked about many areas: behind the reader of the files, and all of them with one read.
import { areaCondition, hullOf } from '../area-condition.ts'
import { placeOfArea, type Spelling } from '../area-tree.ts'
import type { Area, EventChoice } from '../export-rows.ts'
import { milliseconds } from './milliseconds.ts'
import { newParameters } from './parameters.ts'
import type { Statement } from './statements.ts'

/**
 * The tree of areas for positions above `from`, and NULL for others. A condition on the time alone would be checked inside the
 * reader of the files, which takes it several times as long as the step behind it.
 */
export function onBothAxes(tree: string, position: string, from: number, { whole }: Spelling): string {
  return `CASE WHEN ${position} > ${whole(from)} THEN ${tree} END`
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
      SELECT place, count(*), ${milliseconds('min(time)')}, ${milliseconds('max(time)')} FROM (
        SELECT time, ${onBothAxes(place, 'position', hull.seq_from, parameters)} AS place
        FROM (SELECT ${position} AS position, ${time} AS time FROM (${sql}) WHERE ${around}))
      WHERE place IS NOT NULL GROUP BY place`,
    parameters: parameters.bound,
  }
}
