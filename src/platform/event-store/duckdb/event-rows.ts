// Rows of events. The table is stored in order of position and the engine keeps that order, so nothing is sorted.
// Nothing is joined or deduplicated either: the writer stores a uuid only once within a day of its time.
import { areaCondition, hullOf } from '../area-condition.ts'
import { inAnyArea } from '../area-tree.ts'
import { onBothAxes } from './area-sql.ts'
import type { PositionRange } from '../event-store.ts'
import type { RowSource } from '../export-rows.ts'
import type { RawRows } from '../raw-rows.ts'
import { newParameters } from './parameters.ts'

/** With a range, selects by its times, which cover all rows at its positions. It does not exclude other positions. */
export function eventRows(
  { query, areas }: Extract<RowSource, { model: 'events' }>,
  range: PositionRange | null,
): RawRows {
  const { sql, position, uuid, time } = query
  const parameters = newParameters(query.parameters)
  const inSomeArea = (within: PositionRange) => {
    const tree = inAnyArea(areas, within, query, parameters)
    return tree === 'true' ? tree : onBothAxes(tree, position, within.from, parameters)
  }
  const conditions = () => {
    const hull = hullOf(areas)
    const { from, to, times } = range ?? { from: hull.seq_from, to: hull.seq_to }
    // Lets the engine skip the blocks that no area can be in.
    const around = { ...hull, ...(times ? { time_from: times.from, time_to: times.to } : {}) }
    return [
      areaCondition(around, query, parameters),
      ...(areas.length === 1 ? [] : [inSomeArea({ from, to, times })]),
    ]
  }
  return {
    sql: `SELECT * FROM (${sql}) WHERE ${areas.length === 0 ? 'false' : conditions().join(' AND ')}`,
    parameters: parameters.bound,
    position,
    id: uuid,
    // Few of a hundred areas overlap the times of one stretch: only those need to be checked when it is read.
    time: areas.length > 1 ? time : null,
  }
}
