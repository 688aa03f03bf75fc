// Every SQL statement about users themselves.
import type { Db } from '../../platform/db/database.ts'
import { assignments, sql } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import { randomBase62 } from '../../lib/base62.ts'
import { uuid7 } from '../../lib/uuid.ts'
import type { EmbeddedUser, UserRow } from './schema.ts'

const shownColumns = sql`id, uuid, distinct_id, first_name, last_name, email, is_email_verified, hedgehog_config`

/** The row `app_user` of a LEFT JOIN as JSON, for what lists many rows of one user: only what is shown. */
export const embeddedUser = sql`
  CASE WHEN app_user.id IS NOT NULL THEN jsonb_build_object(
    'id', app_user.id, 'uuid', app_user.uuid, 'distinct_id', app_user.distinct_id, 'first_name', app_user.first_name,
    'last_name', app_user.last_name, 'email', app_user.email, 'is_email_verified', app_user.is_email_verified,
    'hedgehog_config', app_user.hedgehog_config) END`

export type NewUser = {
  email: string
  first_name: string
  last_name?: string
  password_hash: string | null
  role_at_organization?: string | null
  is_email_verified?: boolean
  is_staff?: boolean
}

export function insertUser(db: Db, user: NewUser, now: Date): Promise<UserRow> {
  return db.only(sql`
    INSERT INTO app_user (uuid, distinct_id, email, first_name, last_name, password_hash, role_at_organization,
      is_email_verified, is_staff, date_joined)
    VALUES (${uuid7(now)}, ${randomBase62(32)}, ${user.email}, ${user.first_name}, ${user.last_name ?? ''},
      ${user.password_hash}, ${user.role_at_organization ?? null}, ${user.is_email_verified ?? false},
      ${user.is_staff ?? false}, ${now})
    RETURNING *`)
}

export function findUserById(db: Db, id: number): Promise<UserRow | undefined> {
  return db.row(sql`SELECT * FROM app_user WHERE id = ${id}`)
}

/** Those that there are, by id. */
export async function findUsersById(db: Db, ids: readonly number[]): Promise<Map<number, EmbeddedUser>> {
  if (ids.length === 0) return new Map()
  const rows = await db.rows<EmbeddedUser>(sql`
    SELECT ${shownColumns} FROM app_user WHERE id = ANY(${ids}::int[])`)
  return new Map(rows.map((row) => [row.id, row]))
}

export function getUser(db: Db, id: number): Promise<UserRow> {
  return db.only(sql`SELECT * FROM app_user WHERE id = ${id}`)
}

/** For whoever changes how the user signs in: they take turns. */
export async function lockUser(tx: Db, id: number): Promise<void> {
  await tx.run(sql`SELECT FROM app_user WHERE id = ${id} FOR UPDATE`)
}

/**
 * Locks a user whose password was just found right; false when it was changed meanwhile, or the account closed. Whoever
 * changes a password ends all sessions under the same lock, so that no sign-in that was under way outlives it.
 */
export async function lockUserWithPassword(tx: Db, user: UserRow): Promise<boolean> {
  const row = await tx.row(sql`
    SELECT FROM app_user WHERE id = ${user.id} AND is_active
      AND password_hash IS NOT DISTINCT FROM ${user.password_hash} FOR UPDATE`)
  return row !== undefined
}

export function findUserByUuid(db: Db, uuid: string): Promise<UserRow | undefined> {
  return db.row(sql`SELECT * FROM app_user WHERE uuid = ${uuid}`)
}

export function findUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  return db.row(sql`SELECT * FROM app_user WHERE lower(email) = lower(${email})`)
}

/** Fields come from our own code; an empty set changes nothing. */
export function updateUser(
  db: Db,
  id: number,
  fields: Partial<Omit<UserRow, 'id' | 'uuid'>>,
): Promise<UserRow> {
  if (Object.keys(fields).length === 0) return getUser(db, id)
  return db.only(sql`UPDATE app_user SET ${assignments(fields)} WHERE id = ${id} RETURNING *`)
}

/** What `@current` and the next sign-in will mean; the project may be null for an organization without one. */
export async function setCurrent(
  db: Db,
  userId: number,
  organizationId: string,
  projectId: number | null,
): Promise<void> {
  await db.run(sql`
    UPDATE app_user SET current_organization_id = ${organizationId}, current_project_id = ${projectId} WHERE id = ${userId}`)
}

/** Memberships, sessions, personal keys and the second factor go with it (ON DELETE CASCADE). */
export async function deleteUser(db: Db, id: number): Promise<void> {
  await db.run(sql`DELETE FROM app_user WHERE id = ${id}`)
}

export async function isOnlyUser(db: Db, id: number): Promise<boolean> {
  return (await db.row(sql`SELECT FROM app_user WHERE id <> ${id} LIMIT 1`)) === undefined
}

export type UserFilter = { email?: string | undefined; is_staff?: boolean | undefined }

export type ListedUser = EmbeddedUser & Pick<UserRow, 'date_joined'>

/** For staff of the installation: those who can sign in, oldest first. */
export function listUsers(db: Db, filter: UserFilter, page: Page): Promise<ListedUser[]> {
  return db.rows(sql`
    SELECT ${shownColumns}, date_joined FROM app_user WHERE ${isListed(filter)} ORDER BY id LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countUsers(db: Db, filter: UserFilter): Promise<number> {
  const row = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM app_user WHERE ${isListed(filter)}`,
  )
  return row.count
}

function isListed(filter: UserFilter) {
  const [email, is_staff] = [filter.email ?? null, filter.is_staff ?? null]
  return sql`is_active AND (${email}::text IS NULL OR lower(email) = lower(${email}))
    AND (${is_staff}::boolean IS NULL OR is_staff = ${is_staff})`
}

export async function hasAnyUser(db: Db): Promise<boolean> {
  return (await db.only<{ found: boolean }>(sql`SELECT EXISTS (SELECT FROM app_user) AS found`)).found
}

/** Whether the next account is the first. Those who make one at the same time wait here, and are not. */
export async function lockFirstAccount(tx: Db): Promise<boolean> {
  await tx.run(sql`SELECT pg_advisory_xact_lock(hashtextextended('first account', 0))`)
  return !(await hasAnyUser(tx))
}
