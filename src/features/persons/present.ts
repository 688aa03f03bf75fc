// Row → Person of the API.
import type { z } from 'zod'
import { displayName } from './rules.ts'
import type { Person, PersonRow } from './schema.ts'

export function presentPerson(row: PersonRow): z.input<typeof Person> {
  return {
    id: row.id,
    uuid: row.uuid,
    name: displayName(row),
    distinct_ids: row.distinct_ids,
    properties: row.properties,
    created_at: row.created_at.toISOString(),
    is_identified: row.is_identified,
  }
}
