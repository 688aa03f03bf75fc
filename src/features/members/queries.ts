// Every SQL statement about memberships.
import type { Db } from '../../platform/db/database.ts'
import { joinSql, sql, type Statement } from '../../platform/db/sql.ts'
import { LEVELS, type Caller, type Level } from '../../platform/http/caller.ts'
import type { Page } from '../../platform/http/paging.ts'
import { uuid7 } from '../../lib/uuid.ts'
import type { MemberFilter, MemberRow, MembershipRow } from './schema.ts'

export const memberColumns = sql`
  membership.*, app_user.uuid, distinct_id, first_name, last_name, email, is_email_verified, hedgehog_config, last_login,
  EXISTS (SELECT FROM totp_device WHERE totp_device.user_id = app_user.id) AS has_2fa,
  EXISTS (SELECT FROM identity WHERE identity.user_id = app_user.id) AS has_social_auth`

export function listMembers(
  db: Db,
  organizationId: string,
  filter: MemberFilter,
  page: Page,
): Promise<MemberRow[]> {
  const oldestFirst = filter.order === 'joined_at'
  return db.rows(sql`
    SELECT ${memberColumns}
    FROM membership JOIN app_user ON app_user.id = membership.user_id
    WHERE ${joinSql(conditions(organizationId, filter), ' AND ')}
    ORDER BY ${oldestFirst ? sql`joined_at, membership.id` : sql`joined_at DESC, membership.id`}
    LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countMembers(db: Db, organizationId: string, filter: MemberFilter): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM membership JOIN app_user ON app_user.id = membership.user_id
    WHERE ${joinSql(conditions(organizationId, filter), ' AND ')}`)
  return row.count
}

function conditions(organizationId: string, filter: MemberFilter) {
  const { email, search, updated_after } = filter
  const pattern = search && `%${search.replace(/[\\%_]/g, '\\$&')}%`
  return [
    sql`membership.organization_id = ${organizationId}`,
    sql`is_active`,
    ...(email ? [sql`lower(email) = lower(${email})`] : []),
    ...(pattern ? [sql`(email ILIKE ${pattern} OR first_name || ' ' || last_name ILIKE ${pattern})`] : []),
    ...(updated_after ? [sql`membership.updated_at > ${updated_after}`] : []),
  ]
}

export function findMember(db: Db, organizationId: string, userUuid: string): Promise<MemberRow | undefined> {
  return db.row(sql`
    SELECT ${memberColumns} FROM membership JOIN app_user ON app_user.id = membership.user_id
    WHERE membership.organization_id = ${organizationId} AND app_user.uuid = ${userUuid} AND is_active`)
}

export function findMembership(
  db: Db,
  organizationId: string,
  userId: number,
): Promise<MembershipRow | undefined> {
  return db.row(
    sql`SELECT * FROM membership WHERE organization_id = ${organizationId} AND user_id = ${userId}`,
  )
}

export function insertMembership(
  db: Db,
  organizationId: string,
  userId: number,
  level: Level,
  now: Date,
): Promise<MembershipRow> {
  return db.only(sql`
    INSERT INTO membership (id, organization_id, user_id, level, joined_at, updated_at)
    VALUES (${uuid7(now)}, ${organizationId}, ${userId}, ${level}, ${now}, ${now}) RETURNING *`)
}

export async function updateMemberLevel(
  db: Db,
  organizationId: string,
  userId: number,
  level: Level,
  now: Date,
): Promise<void> {
  await db.run(sql`
    UPDATE membership SET level = ${level}, updated_at = ${now} WHERE organization_id = ${organizationId} AND user_id = ${userId}`)
}

export async function deleteMembership(db: Db, organizationId: string, userId: number): Promise<void> {
  await db.run(sql`DELETE FROM membership WHERE organization_id = ${organizationId} AND user_id = ${userId}`)
}

/** Condition on a row `membership`: whether personal API keys of that member open the organization. */
export const opensToPersonalKeys = sql`(membership.level >= ${LEVELS.admin} OR EXISTS (
  SELECT FROM organization
  WHERE organization.id = membership.organization_id AND members_can_use_personal_api_keys))`

/** Condition on a row `organization`: the caller's level there counts, and not the one in a project. */
export function opensToPersonalKeysOf(caller: Caller): Statement {
  if (caller.kind !== 'personal_key') return sql`true`
  return sql`(members_can_use_personal_api_keys OR EXISTS (
    SELECT FROM membership WHERE membership.organization_id = organization.id
      AND user_id = ${caller.user.id} AND membership.level >= ${LEVELS.admin}))`
}

/** Condition on a row `membership` of the caller's. */
export function isOpenTo(caller: Caller): Statement {
  return caller.kind === 'personal_key' ? opensToPersonalKeys : sql`true`
}

/** Memberships beside that of a user, whether those people can sign in or not. */
export async function countOthers(db: Db, organizationId: string, userId: number): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM membership
    WHERE organization_id = ${organizationId} AND user_id <> ${userId}`)
  return row.count
}

/** How many owners can still sign in; locked until the transaction ends, so that those who leave at once wait in line. */
export async function lockOwners(db: Db, organizationId: string): Promise<number> {
  const owners = await db.rows(sql`
    SELECT membership.id FROM membership JOIN app_user ON app_user.id = user_id
    WHERE organization_id = ${organizationId} AND level = ${LEVELS.owner} AND is_active
    ORDER BY membership.id FOR UPDATE OF membership`)
  return owners.length
}

/** Those who can sign in. */
export function listOwners(db: Db, organizationId: string): Promise<{ user_id: number }[]> {
  return db.rows(sql`
    SELECT user_id FROM membership JOIN app_user ON app_user.id = user_id
    WHERE organization_id = ${organizationId} AND level = ${LEVELS.owner} AND is_active ORDER BY user_id`)
}

/** A user who leaves their current organization: on to the first one left, or to none. */
export async function moveAway(db: Db, leftId: string, userId: number): Promise<void> {
  await db.run(
    sql`UPDATE app_user SET ${nextCurrent(leftId)} WHERE id = ${userId} AND current_organization_id = ${leftId}`,
  )
}

/** The same for everybody, when the organization itself goes. */
export async function moveEverybodyAway(db: Db, leftId: string): Promise<void> {
  await db.run(sql`UPDATE app_user SET ${nextCurrent(leftId)} WHERE current_organization_id = ${leftId}`)
}

/** No project means the organization's first. Organizations that are being deleted right now are passed over. */
function nextCurrent(leftId: string) {
  return sql`current_project_id = NULL, current_organization_id = (
    SELECT organization.id FROM membership JOIN organization ON organization.id = membership.organization_id
    WHERE membership.user_id = app_user.id AND organization.id <> ${leftId}
    ORDER BY joined_at, membership.id LIMIT 1 FOR KEY SHARE OF organization SKIP LOCKED)`
}
