// Every SQL statement about the groups of a directory.
import { uuid7 } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { assignments, sql, type Statement } from '../../platform/db/sql.ts'
import type { Level } from '../../platform/http/caller.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { Conditions } from './narrow.ts'

export type ScimGroupRow = {
  id: string
  domain_id: string
  organization_id: string
  display_name: string
  external_id: string | null
  level: Level | null
  role_id: string | null
  version: number
  created_at: Date
  updated_at: Date
}

export type GroupMember = { id: string; user_name: string }
export type ShownGroupRow = ScimGroupRow & { members: GroupMember[] }

/** Members are thousands, and many callers do not want them. */
function shown(withMembers: boolean) {
  const members = withMembers
    ? sql`(SELECT coalesce(jsonb_agg(jsonb_build_object('id', scim_user.id, 'user_name', user_name) ORDER BY scim_user.id), '[]')
        FROM scim_group_member JOIN scim_user ON scim_user.id = scim_user_id WHERE group_id = scim_group.id)`
    : sql`'[]'::jsonb`
  return sql`SELECT scim_group.*, ${members} AS members FROM scim_group`
}

export function findShownGroup(
  db: Db,
  domainId: string,
  id: string,
  withMembers: boolean,
): Promise<ShownGroupRow | undefined> {
  return db.row(sql`${shown(withMembers)} WHERE scim_group.domain_id = ${domainId} AND scim_group.id = ${id}`)
}

export function listShownGroups(
  db: Db,
  domainId: string,
  ids: readonly string[],
  withMembers: boolean,
): Promise<ShownGroupRow[]> {
  return db.rows(sql`
    ${shown(withMembers)} WHERE scim_group.domain_id = ${domainId} AND scim_group.id = ANY(${ids}::uuid[])`)
}

export const groupConditions: Conditions = {
  id: (value) => sql`scim_group.id = ${value}`,
  displayName: (value) => sql`lower(display_name) = lower(${value})`,
  externalId: (value) => sql`external_id = ${value}`,
}

export function pageOfGroups(
  db: Db,
  domainId: string,
  where: Statement,
  { limit, offset }: Page,
  withMembers: boolean,
): Promise<ShownGroupRow[]> {
  return db.rows(sql`
    ${shown(withMembers)} WHERE scim_group.domain_id = ${domainId} AND ${where}
    ORDER BY scim_group.id LIMIT ${limit} OFFSET ${offset}`)
}

export function groupsAfter(
  db: Db,
  domainId: string,
  where: Statement,
  after: string,
  limit: number,
  withMembers: boolean,
): Promise<ShownGroupRow[]> {
  return db.rows(sql`
    ${shown(withMembers)} WHERE scim_group.domain_id = ${domainId} AND scim_group.id > ${after} AND ${where}
    ORDER BY scim_group.id LIMIT ${limit}`)
}

export type ListedGroup = ScimGroupRow & { member_count: number }

const listed = sql`
  SELECT scim_group.*, (SELECT count(*)::int FROM scim_group_member WHERE group_id = scim_group.id) AS member_count
  FROM scim_group`

/** For admins, by name. */
export function listGroups(db: Db, domainId: string, { limit, offset }: Page): Promise<ListedGroup[]> {
  return db.rows(sql`
    ${listed} WHERE domain_id = ${domainId} ORDER BY lower(display_name), id LIMIT ${limit} OFFSET ${offset}`)
}

export function findListedGroup(db: Db, domainId: string, id: string): Promise<ListedGroup | undefined> {
  return db.row(sql`${listed} WHERE domain_id = ${domainId} AND id = ${id}`)
}

export async function countGroups(db: Db, domainId: string, where = sql`TRUE`): Promise<number> {
  const row = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM scim_group WHERE domain_id = ${domainId} AND ${where}`,
  )
  return row.count
}

export function insertGroup(
  db: Db,
  { id: domainId, organization_id }: { id: string; organization_id: string },
  fields: Pick<ScimGroupRow, 'display_name' | 'external_id'>,
  now: Date,
): Promise<ScimGroupRow> {
  return db.only(sql`
    INSERT INTO scim_group (id, domain_id, organization_id, display_name, external_id, created_at, updated_at)
    VALUES (${uuid7(now)}, ${domainId}, ${organization_id}, ${fields.display_name}, ${fields.external_id}, ${now}, ${now})
    RETURNING *`)
}

/** A change that the directory sees: the version goes up with it. */
export async function updateGroup(
  db: Db,
  domainId: string,
  id: string,
  fields: Partial<Pick<ScimGroupRow, 'display_name' | 'external_id'>>,
  now: Date,
): Promise<void> {
  await db.run(sql`
    UPDATE scim_group SET ${assignments({ ...fields, updated_at: now })}, version = version + 1
    WHERE domain_id = ${domainId} AND id = ${id}`)
}

/** What an admin makes of the group. The directory does not see it. */
export function mapGroup(
  db: Db,
  domainId: string,
  id: string,
  fields: Pick<ScimGroupRow, 'level' | 'role_id'>,
): Promise<ScimGroupRow> {
  return db.only(sql`
    UPDATE scim_group SET ${assignments(fields)} WHERE domain_id = ${domainId} AND id = ${id} RETURNING *`)
}

export async function deleteGroup(db: Db, domainId: string, id: string): Promise<void> {
  await db.run(sql`DELETE FROM scim_group WHERE domain_id = ${domainId} AND id = ${id}`)
}

/** Those of the ids that are people of the directory. */
export async function peopleAmong(db: Db, domainId: string, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.rows<{ id: string }>(
    sql`SELECT id FROM scim_user WHERE domain_id = ${domainId} AND id = ANY(${ids}::uuid[])`,
  )
  return new Set(rows.map(({ id }) => id))
}

export async function insertGroupMembers(db: Db, groupId: string, ids: readonly string[]): Promise<void> {
  await db.run(sql`
    INSERT INTO scim_group_member (group_id, scim_user_id) SELECT ${groupId}, id FROM unnest(${ids}::uuid[]) AS given (id)
    ON CONFLICT DO NOTHING`)
}

export async function deleteGroupMembers(db: Db, groupId: string, ids: readonly string[]): Promise<void> {
  await db.run(
    sql`DELETE FROM scim_group_member WHERE group_id = ${groupId} AND scim_user_id = ANY(${ids}::uuid[])`,
  )
}

/** In all groups of a directory. */
export async function countGroupMembers(db: Db, domainId: string): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM scim_group_member JOIN scim_group ON scim_group.id = group_id
    WHERE domain_id = ${domainId}`)
  return row.count
}

export async function membersOfGroup(db: Db, groupId: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(
    sql`SELECT scim_user_id AS id FROM scim_group_member WHERE group_id = ${groupId}`,
  )
  return rows.map(({ id }) => id)
}

/** Memberships of the people in a group; who is deactivated has none. */
export async function membershipsOfGroup(db: Db, groupId: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    SELECT membership.id FROM scim_group_member JOIN scim_user ON scim_user.id = scim_user_id
    JOIN membership ON membership.organization_id = scim_user.organization_id
      AND membership.user_id = scim_user.user_id
    WHERE group_id = ${groupId}`)
  return rows.map(({ id }) => id)
}

/** The roles that the groups of a person give. */
export async function rolesOfPerson(db: Db, scimUserId: string): Promise<string[]> {
  const rows = await db.rows<{ role_id: string }>(sql`
    SELECT role_id FROM scim_group_member JOIN scim_group ON scim_group.id = group_id
    WHERE scim_user_id = ${scimUserId} AND role_id IS NOT NULL`)
  return rows.map(({ role_id }) => role_id)
}

export type LevelledPerson = {
  id: string
  user_id: number
  email: string
  membership_id: string
  level: Level
  joined_at: Date
  updated_at: Date
  group_level: Level | null
  /** The highest that a group of theirs is mapped to. */
  wanted: Level | null
}

/** People who are members, with the level that their groups say. */
export function levelsOfPeople(db: Db, domainId: string, ids: readonly string[]): Promise<LevelledPerson[]> {
  return db.rows(sql`
    SELECT scim_user.id, scim_user.user_id, email, membership.id AS membership_id, membership.level, joined_at,
      membership.updated_at, group_level,
      (SELECT max(scim_group.level) FROM scim_group_member JOIN scim_group ON scim_group.id = group_id
        WHERE scim_user_id = scim_user.id) AS wanted
    FROM scim_user JOIN app_user ON app_user.id = scim_user.user_id
    JOIN membership ON membership.organization_id = scim_user.organization_id
      AND membership.user_id = scim_user.user_id
    WHERE scim_user.domain_id = ${domainId} AND scim_user.id = ANY(${ids}::uuid[])
    ORDER BY membership.id FOR UPDATE OF membership`)
}

export async function levelByGroups(db: Db, scimUserId: string): Promise<Level | null> {
  const row = await db.only<{ level: Level | null }>(sql`
    SELECT max(level) AS level FROM scim_group_member JOIN scim_group ON scim_group.id = group_id
    WHERE scim_user_id = ${scimUserId}`)
  return row.level
}

export async function setGroupLevel(db: Db, ids: readonly string[], level: Level | null): Promise<void> {
  await db.run(sql`UPDATE scim_user SET group_level = ${level} WHERE id = ANY(${ids}::uuid[])`)
}
