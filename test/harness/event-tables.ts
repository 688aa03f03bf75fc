// What SQL calls the tables of a project's events, on the engine that tests run on: for tests of what is stored, which ask
// the event store itself.
import {
  distinctIds,
  livingPersons,
  visibleEvents,
} from '../../src/platform/event-store/clickhouse/visible-sql.ts'
import { tablesOf } from '../../src/platform/event-store/layout.ts'
import { TEST_ENGINE } from './clickhouse.ts'

export function eventTables(project_id: number): Record<'events' | 'persons' | 'distinct_ids', string> {
  if (TEST_ENGINE === 'duckdb') return tablesOf(project_id)
  const project = String(project_id)
  return {
    events: visibleEvents(project),
    persons: livingPersons(project),
    distinct_ids: distinctIds(project),
  }
}
