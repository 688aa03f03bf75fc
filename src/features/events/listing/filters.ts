// Which events are meant, apart from their time: event name, distinct id, person, properties.
import type { Expr } from '../../../hogql/ast.ts'
import type { Db } from '../../../platform/db/database.ts'
import { findDistinctIdsOfPerson } from '../../persons/queries.ts'
import { eventField, oneOf } from '../tree.ts'

export type EventFilters = {
  event: string | null
  distinct_id: string | null
  /** Integer id or UUID. */
  person_id: string | null
  /** The property filters as one expression. */
  properties: Expr | null
}

export async function filterConditions(db: Db, project_id: number, filters: EventFilters): Promise<Expr[]> {
  const conditions: Expr[] = []
  if (filters.event !== null) conditions.push(oneOf(eventField('event'), [filters.event]))
  if (filters.distinct_id !== null) conditions.push(oneOf(eventField('distinct_id'), [filters.distinct_id]))
  // None for a person who is unknown, and for what cannot be the id of one.
  if (filters.person_id !== null) {
    conditions.push(
      oneOf(
        eventField('distinct_id'),
        await findDistinctIdsOfPerson(db, project_id, filters.person_id.trim()),
      ),
    )
  }
  if (filters.properties !== null) conditions.push(filters.properties)
  return conditions
}
