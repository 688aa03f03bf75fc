// Persons of a run: one row for each distinct id whose mapping or person changed last in the interval. Whoever changes
// again before they are read belongs to a later run, with all that changed.
import { PERSON_VALUES } from '../../../platform/event-store/export-rows.ts'
import type { DataInterval } from '../definition.ts'
import type { ColumnSet } from '../destinations/destination.ts'
import type { SourceRows } from './source-rows.ts'

// Versions do not have 32 bits, as PostHog documents them: they are counted over all projects here.
const COLUMNS: readonly (keyof typeof PERSON_VALUES)[] = [
  'team_id',
  'distinct_id',
  'person_id',
  'properties',
  'person_distinct_id_version',
  'person_version',
  'created_at',
  'is_deleted',
]

export function personRows(set: ColumnSet, { start, end }: DataInterval): SourceRows {
  const names = set === 'files' ? [...COLUMNS, '_inserted_at' as const] : COLUMNS
  return {
    source: { model: 'persons', changed_from: start, changed_to: end },
    columns: names.map((name) => ({
      name,
      of: name,
      type: PERSON_VALUES[name],
      ...(name === 'team_id' ? { hint: 'int32' } : {}),
    })),
    found_by: 'distinct id',
  }
}
