// The question behind the listing and behind a single event: rows of the project's events, and their people.
import type { Expr, OrderExpr, SelectQuery } from '../../../hogql/ast.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { Services } from '../../../platform/services.ts'
import { findPersonsByDistinctIds } from '../../persons/queries.ts'
import { runQuery, type AskedProject } from '../run-query.ts'
import type { EventRow, PersonsByDistinctId } from './record.ts'
import { allOf, constant, eventField, field } from '../tree.ts'

export type RowsQuestion = {
  where: readonly Expr[]
  order_by: readonly OrderExpr[]
  limit: number
  signal?: AbortSignal | undefined
}

const FIELDS = ['uuid', 'event', 'distinct_id', 'timestamp', 'properties', 'elements_chain'] as const

/** In the order of FIELDS; all of them are texts. */
type RowValues = readonly [string, string, string, string, string, string]

function toRow([uuid, event, distinct_id, timestamp, properties, elements_chain]: RowValues): EventRow {
  return { uuid, event, distinct_id, timestamp, properties, elements_chain }
}

/** The time and id of the row before `offset`, for which no other column is read; undefined when the list ends earlier. */
export async function findPlaceBefore(
  services: Services,
  project: AskedProject,
  { where, order_by, offset, signal }: Omit<RowsQuestion, 'limit'> & { offset: number },
): Promise<Pick<EventRow, 'timestamp' | 'uuid'> | undefined> {
  const query: SelectQuery = {
    node: 'SelectQuery',
    select: [eventField('timestamp'), eventField('uuid')],
    select_from: { node: 'JoinExpr', table: field('events') },
    where: allOf(where) ?? constant(true),
    order_by,
    limit: constant(1),
    ...(offset > 1 ? { offset: constant(offset - 1) } : {}),
  }
  const { rows } = await runQuery(services, project, { query, timezone: 'UTC', max_rows: 1, signal })
  const [row] = rows as readonly (readonly [string, string])[]
  return row && { timestamp: row[0], uuid: row[1] }
}

export async function findEventRows(
  services: Services,
  project: AskedProject,
  { where, order_by, limit, signal }: RowsQuestion,
): Promise<EventRow[]> {
  const query: SelectQuery = {
    node: 'SelectQuery',
    // Under the table's name: a filter in HogQL may give an alias of its own to anything.
    select: FIELDS.map(eventField),
    select_from: { node: 'JoinExpr', table: field('events') },
    where: allOf(where) ?? constant(true),
    order_by,
    limit: constant(limit),
  }
  const { rows } = await runQuery(services, project, { query, timezone: 'UTC', max_rows: limit, signal })
  return (rows as readonly RowValues[]).map(toRow)
}

/** One look-up for the whole page. */
export async function findPersonsOfRows(
  db: Db,
  project_id: number,
  rows: readonly EventRow[],
): Promise<PersonsByDistinctId> {
  const ids = new Set(rows.map(({ distinct_id }) => distinct_id))
  return ids.size === 0 ? new Map() : findPersonsByDistinctIds(db, project_id, [...ids])
}
