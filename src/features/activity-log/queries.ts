// Reading the activity log: an organization's or a project's, newest first.
import type { Db } from '../../platform/db/database.ts'
import { joinSql, sql, type Statement } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import { embeddedUser } from '../users/queries.ts'
import type { EmbeddedUser } from '../users/schema.ts'
import type { ChainedEntry } from './chain.ts'
import type { Cursor } from './cursor.ts'
import type { ActivityFilter } from './schema.ts'

export type EntryRow = ChainedEntry & { position: string; user: EmbeddedUser | null }

/** `only` is a condition on the row `entry`, of a slice that shows its own entries. */
export type EntryFilter = Partial<ActivityFilter> & { only?: Statement }

/** Whose log: every read is fenced to one organization or one project of it. */
export type LogOwner = { organization_id: string } | { project_id: number; organization_id: string }

const entriesWithUser = sql`
  SELECT entry.*, ${embeddedUser} AS user
  FROM activity_log entry LEFT JOIN app_user ON app_user.id = entry.user_id`

export function listActivity(db: Db, owner: LogOwner, filter: EntryFilter, page: Page): Promise<EntryRow[]> {
  return db.rows(sql`
    ${entriesWithUser} WHERE ${joinSql(conditions(owner, filter), ' AND ')}
    ORDER BY entry.position DESC LIMIT ${page.limit} OFFSET ${page.offset}`)
}

/** The entries next to a place in the log, nearest first: going back in time, or forward again. */
export function listActivityFrom(
  db: Db,
  owner: LogOwner,
  filter: ActivityFilter,
  from: Cursor,
  limit: number,
): Promise<EntryRow[]> {
  const where = joinSql(conditions(owner, filter), ' AND ')
  return from.direction === 'older'
    ? db.rows(sql`
        ${entriesWithUser} WHERE ${where} AND entry.position < ${from.position}
        ORDER BY entry.position DESC LIMIT ${limit}`)
    : db.rows(sql`
        ${entriesWithUser} WHERE ${where} AND entry.position > ${from.position}
        ORDER BY entry.position LIMIT ${limit}`)
}

export async function countActivity(db: Db, owner: LogOwner, filter: EntryFilter): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM activity_log entry WHERE ${joinSql(conditions(owner, filter), ' AND ')}`)
  return row.count
}

function conditions(owner: LogOwner, filter: EntryFilter): Statement[] {
  const { user, scope, scopes, item_id, start_date, end_date, only } = filter
  return [
    sql`entry.organization_id = ${owner.organization_id}`,
    ...('project_id' in owner ? [sql`entry.project_id = ${owner.project_id}`] : []),
    ...(user !== undefined ? [sql`entry.user_id = ${user}`] : []),
    ...(scope ? [sql`entry.scope = ${scope}`] : []),
    ...(scopes ? [sql`entry.scope = ANY(${scopes.split(',').map((name) => name.trim())})`] : []),
    ...(item_id ? [sql`entry.item_id = ${item_id}`] : []),
    ...(start_date ? [sql`entry.created_at >= ${start_date}`] : []),
    ...(end_date ? [sql`entry.created_at < ${end_date}`] : []),
    ...(only ? [only] : []),
  ]
}
