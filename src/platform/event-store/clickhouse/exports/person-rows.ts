// Rows of persons: one for each distinct id whose mapping or person changed last in a stretch of time.
import { PERSON_POSITION_BITS, type RowSource } from '../../export-rows.ts'
import { CHANGED_AT, PERSON_SQL } from '../../person-sql.ts'
import { selectList, type RawRows } from '../../raw-rows.ts'
import { distinctIds, livingPersons } from '../visible-sql.ts'
import { SPELLING } from './spelling.ts'

export function personRows(
  project_id: number,
  { changed_from, changed_to }: Extract<RowSource, { model: 'persons' }>,
): RawRows {
  const { whole, instant } = SPELLING
  const project = whole(project_id)
  const list = selectList({ team_id: `toInt64(${project})`, ...PERSON_SQL })
  const since = changed_from === null ? '' : ` AND ${CHANGED_AT} >= ${instant(changed_from)}`
  const sql =
    `SELECT toInt64(bitShiftRight(sipHash64(d.distinct_id), ${64 - PERSON_POSITION_BITS})) + 1 AS position, ${list}` +
    ` FROM ${distinctIds(project)} AS d JOIN ${livingPersons(project)} AS p ON p.id = d.person_id` +
    ` WHERE ${CHANGED_AT} < ${instant(changed_to)}${since}`
  return { sql, parameters: [], position: 'position', id: 'distinct_id', time: null }
}
