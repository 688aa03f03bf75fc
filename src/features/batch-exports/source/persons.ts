// Persons of a run: one row for each distinct id whose mapping or person changed last in the interval. Whoever changes
// again before they are read belongs to a later run, with all that changed.
import { tablesOf } from '../../../platform/event-store/layout.ts'
import type { DataInterval } from '../definition.ts'
import type { ColumnSet } from '../destinations/destination.ts'
import { newParameters, type ExportedProject, type SourceColumn, type SourceRows } from './source-rows.ts'

type PersonColumn = SourceColumn & { sql: string }

const COLUMNS: readonly PersonColumn[] = [
  { name: 'distinct_id', type: { kind: 'text' }, sql: 'd.distinct_id' },
  { name: 'person_id', type: { kind: 'uuid' }, sql: 'p.id' },
  { name: 'properties', type: { kind: 'json' }, sql: 'p.properties' },
  // Not 32 bits, as PostHog documents them: versions are counted over all projects here.
  { name: 'person_distinct_id_version', type: { kind: 'integer' }, sql: 'd.version' },
  { name: 'person_version', type: { kind: 'integer' }, sql: 'p.version' },
  { name: 'created_at', type: { kind: 'datetime' }, sql: 'p.created_at' },
  // A person who was merged into another is no longer there: their ids are the other's.
  { name: 'is_deleted', type: { kind: 'boolean' }, sql: 'false' },
]

const CHANGED_AT = 'greatest(d.changed_at, p.changed_at)'
const IN_FILES: PersonColumn = { name: '_inserted_at', type: { kind: 'datetime' }, sql: CHANGED_AT }

export function personRows(
  project: ExportedProject,
  set: ColumnSet,
  { start, end }: DataInterval,
): SourceRows {
  const { persons, distinct_ids } = tablesOf(project.id)
  const { bound, whole, instant } = newParameters()
  const columns: PersonColumn[] = [
    { name: 'team_id', type: { kind: 'integer' }, hint: 'int32', sql: whole(project.id) },
    ...COLUMNS,
    ...(set === 'files' ? [IN_FILES] : []),
  ]
  const list = columns.map(({ sql }, index) => `${sql} AS c${index + 3}`).join(', ')
  const since = start === null ? '' : ` AND ${CHANGED_AT} >= ${instant(start)}`
  const sql =
    `SELECT row_number() OVER (ORDER BY d.distinct_id) AS c1, d.distinct_id AS c2, ${list}` +
    ` FROM ${distinct_ids} AS d JOIN ${persons} AS p ON p.id = d.person_id` +
    ` WHERE ${CHANGED_AT} < ${instant(end)}${since} ORDER BY c1`
  return { sql, parameters: bound, columns, found_by: 'distinct id' }
}
