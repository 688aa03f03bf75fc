// Rows of events. The table lies in the order of positions and the engine keeps that order, so nothing is sorted. Nor is
// anything joined, or freed of repeats: the writer stores a uuid once within a day of its time.
import type { PositionRange } from '../event-store.ts'
import type { RowSource } from '../export-rows.ts'
import { areaCondition, hullOf } from './area-sql.ts'
import { inAnyArea } from './area-tree.ts'
import { newParameters } from './parameters.ts'
import type { RawRows } from './raw-rows.ts'

/** With a range, only rows of its times: that is, all that its positions have. Other positions are not kept out by it. */
export function eventRows(
  { query, areas }: Extract<RowSource, { model: 'events' }>,
  range: PositionRange | null,
): RawRows {
  const { sql, position, uuid, time } = query
  const parameters = newParameters(query.parameters)
  const conditions = () => {
    const hull = hullOf(areas)
    const { from, to, times } = range ?? { from: hull.seq_from, to: hull.seq_to }
    // By this the engine first passes over the blocks that no area can be in.
    const around = { ...hull, ...(times ? { time_from: times.from, time_to: times.to } : {}) }
    return [
      areaCondition(around, query, parameters),
      ...(areas.length === 1 ? [] : [inAnyArea(areas, { from, to, times }, query, parameters)]),
    ]
  }
  return {
    sql: `SELECT * FROM (${sql}) WHERE ${areas.length === 0 ? 'false' : conditions().join(' AND ')}`,
    parameters: parameters.bound,
    position,
    id: uuid,
    // Of a hundred areas few are of the times of a stretch: the rest need not be asked for when it is read.
    time: areas.length > 1 ? time : null,
  }
}
