// Rows of persons: one for each distinct id whose mapping or person changed last in a stretch of time.
import { PERSON_POSITION_BITS, type RowSource } from '../export-rows.ts'
import { tablesOf } from '../layout.ts'
import { newParameters } from './parameters.ts'
import { CHANGED_AT, PERSON_SQL } from '../person-sql.ts'
import { selectList, type RawRows } from '../raw-rows.ts'

export function personRows(
  project_id: number,
  { changed_from, changed_to }: Extract<RowSource, { model: 'persons' }>,
): RawRows {
  const { persons, distinct_ids } = tablesOf(project_id)
  const { bound, whole, instant } = newParameters()
  const list = selectList({ team_id: whole(project_id), ...PERSON_SQL })
  const since = changed_from === null ? '' : ` AND ${CHANGED_AT} >= ${instant(changed_from)}`
  const sql =
    `SELECT (hash(d.distinct_id) >> ${64 - PERSON_POSITION_BITS})::BIGINT + 1 AS position, ${list}` +
    ` FROM ${distinct_ids} AS d JOIN ${persons} AS p ON p.id = d.person_id` +
    ` WHERE ${CHANGED_AT} < ${instant(changed_to)}${since}`
  return { sql, parameters: bound, position: 'position', id: 'distinct_id', time: null }
}
