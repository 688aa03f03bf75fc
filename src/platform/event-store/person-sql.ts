// The values of a distinct id and its person, in SQL that every engine reads: `d` is the distinct id, `p` the person.
import type { PERSON_VALUES } from './export-rows.ts'

export const CHANGED_AT = 'greatest(d.changed_at, p.changed_at)'

/** Whose they are, is known to whoever asks. */
export const PERSON_SQL: Readonly<Record<Exclude<keyof typeof PERSON_VALUES, 'team_id'>, string>> = {
  distinct_id: 'd.distinct_id',
  person_id: 'p.id',
  properties: 'p.properties',
  person_distinct_id_version: 'd.version',
  person_version: 'p.version',
  created_at: 'p.created_at',
  is_deleted: 'false',
  _inserted_at: CHANGED_AT,
}
