// Reading the activity log: an organization's or a project's, newest first.
import type { Db } from '../../platform/db/database.ts'
import { joinSql, sql, type Statement } from '../../platform/db/sql.ts'
import type { UserRow } from '../users/schema.ts'
import type { ChainedEntry } from './chain.ts'
import type { ActivityFilter } from './schema.ts'

export type EntryRow = ChainedEntry & { position: string; user: UserRow | null }

/** Whose log: every read is fenced to one organization or one project of it. */
export type LogOwner = { organization_id: string } | { project_id: number; organization_id: string }

type Slice = { limit: number; offset: number; before_position?: string }

export function listActivity(db: Db, owner: LogOwner, filter: ActivityFilter, slice: Slice): Promise<EntryRow[]> {
  const before = slice.before_position === undefined ? [] : [sql`entry.position < ${slice.before_position}`]
  return db.rows(sql`
    SELECT entry.*, to_jsonb(app_user) - 'password_hash' AS user
    FROM activity_log entry LEFT JOIN app_user ON app_user.id = entry.user_id
    WHERE ${joinSql([...conditions(owner, filter), ...before], ' AND ')}
    ORDER BY entry.position DESC LIMIT ${slice.limit} OFFSET ${slice.offset}`)
}

export async function countActivity(db: Db, owner: LogOwner, filter: ActivityFilter): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM activity_log entry WHERE ${joinSql(conditions(owner, filter), ' AND ')}`)
  return row.count
}

function conditions(owner: LogOwner, filter: ActivityFilter): Statement[] {
  const scopes = filter.scopes?.split(',').map((scope) => scope.trim())
  return [
    sql`entry.organization_id = ${owner.organization_id}`,
    ...('project_id' in owner ? [sql`entry.project_id = ${owner.project_id}`] : []),
    ...(filter.user === undefined ? [] : [sql`entry.user_id = ${filter.user}`]),
    ...(filter.scope === undefined ? [] : [sql`entry.scope = ${filter.scope}`]),
    ...(scopes === undefined ? [] : [sql`entry.scope = ANY(${scopes})`]),
    ...(filter.item_id === undefined ? [] : [sql`entry.item_id = ${filter.item_id}`]),
  ]
}
