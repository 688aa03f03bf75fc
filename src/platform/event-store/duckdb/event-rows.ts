// Rows of events. The table lies in the order of positions and the engine keeps that order, so nothing is sorted. Nor is
// anything joined, or freed of repeats: the writer stores a uuid once within a day of its time.
import type { Area, RowSource } from '../export-rows.ts'
import { areaCondition, hullOf } from './area-sql.ts'
import { newParameters } from './parameters.ts'
import type { RawRows } from './raw-rows.ts'

export function eventRows({ query, areas }: Extract<RowSource, { model: 'events' }>): RawRows {
  const { sql, position, uuid, time } = query
  const parameters = newParameters(query.parameters)
  const conditionOf = (area: Area) => areaCondition(area, { position, time }, parameters)
  return {
    sql: `SELECT * FROM (${sql}) WHERE ${inAnyOf(areas, conditionOf)}`,
    parameters: parameters.bound,
    position,
    id: uuid,
  }
}

/** Nearly always one area. Of several, the engine first passes over the blocks that none of them can be in. */
function inAnyOf(areas: readonly Area[], conditionOf: (area: Area) => string): string {
  const [first, ...others] = areas
  if (!first) return 'false'
  if (others.length === 0) return conditionOf(first)
  return `${conditionOf(hullOf(areas))} AND (${areas.map((area) => `(${conditionOf(area)})`).join(' OR ')})`
}
