// What of the tables a statement may read. The values are bound when it runs: `visible` of the store.
import { DISTINCT_ID_COLUMNS, EVENT_COLUMNS, GROUP_COLUMNS, PERSON_COLUMNS } from './tables.ts'

/** The columns that there are to read. */
export const VISIBLE_COLUMNS: Readonly<
  Record<'events' | 'persons' | 'distinct_ids' | 'groups', readonly string[]>
> = {
  events: EVENT_COLUMNS.filter((name) => name !== 'batch'),
  persons: PERSON_COLUMNS,
  distinct_ids: DISTINCT_ID_COLUMNS,
  groups: GROUP_COLUMNS,
}

/** The project's events that are there: committed, and not left behind by a batch that was closed. `project` is SQL. */
export function visibleEvents(project: string): string {
  return (
    `(SELECT * EXCEPT (batch) FROM events WHERE project_id = ${project} AND seq <= {visible_end:Int64}` +
    ` AND batch NOT IN (SELECT arrayJoin({hidden:Array(UUID)}) UNION ALL ${closedBatches(`= ${project}`)}))`
  )
}

/** Batches that were closed some time ago. `projects` is the rest of the condition. */
export function closedBatches(projects: string): string {
  return `SELECT batch FROM closed_batches WHERE project_id ${projects}`
}

export function livingPersons(project: string): string {
  return `(SELECT * FROM persons FINAL WHERE project_id = ${project} AND is_deleted = 0)`
}

export function distinctIds(project: string): string {
  return `(SELECT * FROM person_distinct_ids FINAL WHERE project_id = ${project})`
}

export function groups(project: string): string {
  return `(SELECT * FROM groups FINAL WHERE project_id = ${project})`
}
