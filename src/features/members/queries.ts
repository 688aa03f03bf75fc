// Every SQL statement about memberships.
import type { Db } from '../../platform/db/database.ts'
import { joinSql, sql } from '../../platform/db/sql.ts'
import type { Level } from '../../platform/http/caller.ts'
import type { Page } from '../../platform/http/paging.ts'
import { uuid7 } from '../../lib/uuid.ts'
import type { MemberFilter, MemberRow, MembershipRow } from './schema.ts'

const memberColumns = sql`
  membership.*, app_user.uuid, distinct_id, first_name, last_name, email, is_email_verified, hedgehog_config, last_login,
  EXISTS (SELECT FROM totp_device WHERE totp_device.user_id = app_user.id) AS has_2fa`

const DEFAULT_FILTER = {}

/** Hot path without filters: one prepared statement. */
export function listMembers(db: Db, organizationId: string, filter: MemberFilter, page: Page): Promise<MemberRow[]> {
  const oldestFirst = filter.order === 'joined_at'
  return db.rows(sql`
    SELECT ${memberColumns}
    FROM membership JOIN app_user ON app_user.id = membership.user_id
    WHERE ${joinSql(conditions(organizationId, filter), ' AND ')}
    ORDER BY ${oldestFirst ? sql`joined_at, membership.id` : sql`joined_at DESC, membership.id`}
    LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countMembers(db: Db, organizationId: string, filter: MemberFilter = DEFAULT_FILTER): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM membership JOIN app_user ON app_user.id = membership.user_id
    WHERE ${joinSql(conditions(organizationId, filter), ' AND ')}`)
  return row.count
}

function conditions(organizationId: string, filter: MemberFilter) {
  const search = filter.search ? `%${filter.search.replace(/[\\%_]/g, '\\$&')}%` : undefined
  return [
    sql`membership.organization_id = ${organizationId}`,
    sql`is_active`,
    ...(filter.email === undefined ? [] : [sql`lower(email) = lower(${filter.email})`]),
    ...(search === undefined ? [] : [sql`(email || ' ' || first_name || ' ' || last_name) ILIKE ${search}`]),
    ...(filter.updated_after === undefined ? [] : [sql`membership.updated_at > ${filter.updated_after}`]),
  ]
}

export function findMember(db: Db, organizationId: string, userUuid: string): Promise<MemberRow | undefined> {
  return db.row(sql`
    SELECT ${memberColumns} FROM membership JOIN app_user ON app_user.id = membership.user_id
    WHERE membership.organization_id = ${organizationId} AND app_user.uuid = ${userUuid} AND is_active`)
}

export function findMembership(db: Db, organizationId: string, userId: number): Promise<MembershipRow | undefined> {
  return db.row(sql`SELECT * FROM membership WHERE organization_id = ${organizationId} AND user_id = ${userId}`)
}

export function insertMembership(db: Db, organizationId: string, userId: number, level: Level, now: Date): Promise<MembershipRow> {
  return db.only(sql`
    INSERT INTO membership (id, organization_id, user_id, level, joined_at, updated_at)
    VALUES (${uuid7(now)}, ${organizationId}, ${userId}, ${level}, ${now}, ${now}) RETURNING *`)
}

export async function updateMemberLevel(db: Db, organizationId: string, userId: number, level: Level, now: Date): Promise<void> {
  await db.run(sql`
    UPDATE membership SET level = ${level}, updated_at = ${now} WHERE organization_id = ${organizationId} AND user_id = ${userId}`)
}

export async function deleteMembership(db: Db, organizationId: string, userId: number): Promise<void> {
  await db.run(sql`DELETE FROM membership WHERE organization_id = ${organizationId} AND user_id = ${userId}`)
}

/** Owners of the organization, locked until the transaction ends: two owners leaving at once must wait for each other. */
export async function lockOwners(db: Db, organizationId: string): Promise<number> {
  const rows = await db.rows(sql`
    SELECT id FROM membership WHERE organization_id = ${organizationId} AND level = 15 ORDER BY id FOR UPDATE`)
  return rows.length
}

/** Moves a user who has lost sight of their current organization to the first one left, or to none. */
export async function moveCurrentAway(db: Db, userId: number, leftOrganizationId: string): Promise<void> {
  await db.run(sql`
    UPDATE app_user SET (current_organization_id, current_project_id) = (
      SELECT membership.organization_id,
        (SELECT min(project.id) FROM project WHERE project.organization_id = membership.organization_id)
      FROM membership WHERE membership.user_id = ${userId} AND membership.organization_id <> ${leftOrganizationId}
      ORDER BY joined_at, membership.id LIMIT 1)
    WHERE id = ${userId} AND current_organization_id = ${leftOrganizationId}`)
}
