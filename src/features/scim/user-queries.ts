// Every SQL statement about people as a directory knows them.
import type { JsonObject } from '../../lib/json-object.ts'
import { uuid7 } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { assignments, sql, type Statement } from '../../platform/db/sql.ts'
import type { Level } from '../../platform/http/caller.ts'
import type { Conditions } from './narrow.ts'

export type ScimUserRow = {
  id: string
  domain_id: string
  organization_id: string
  user_id: number
  user_name: string
  external_id: string | null
  resource: JsonObject
  group_level: Level | null
  last_level: Level | null
  version: number
  owners_told_at: Date | null
  created_at: Date
  updated_at: Date
}

/** `active`: whether they are a member now. */
export type ShownUserRow = ScimUserRow & { active: boolean; groups: { id: string; display_name: string }[] }

const isMember = sql`EXISTS (SELECT FROM membership
  WHERE membership.organization_id = scim_user.organization_id AND membership.user_id = scim_user.user_id)`

const shown = sql`
  SELECT scim_user.*, ${isMember} AS active,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('id', scim_group.id, 'display_name', display_name)
        ORDER BY scim_group.id), '[]')
      FROM scim_group_member JOIN scim_group ON scim_group.id = group_id
      WHERE scim_user_id = scim_user.id) AS groups
  FROM scim_user`

/** Half the time, where thousands are looked at for something else. */
const withoutGroups = sql`SELECT scim_user.*, ${isMember} AS active, '[]'::jsonb AS groups FROM scim_user`

export function findShownUser(db: Db, domainId: string, id: string): Promise<ShownUserRow | undefined> {
  return db.row(sql`${shown} WHERE scim_user.domain_id = ${domainId} AND scim_user.id = ${id}`)
}

export function listShownUsers(db: Db, domainId: string, ids: readonly string[]): Promise<ShownUserRow[]> {
  return db.rows(sql`${shown} WHERE scim_user.domain_id = ${domainId} AND scim_user.id = ANY(${ids}::uuid[])`)
}

/** What filters compare, as PostgreSQL does it. The addresses have an index in small letters. */
export const userConditions: Conditions = {
  id: (value) => sql`scim_user.id = ${value}`,
  userName: (value) => sql`lower(user_name) = lower(${value})`,
  externalId: (value) => sql`external_id = ${value}`,
  'emails.value': (value) => sql`
    lower((resource -> 'emails')::text)::jsonb @> jsonb_build_array(jsonb_build_object('value', lower(${value}::text)))`,
  // Entra ID sends "True".
  active: (value) => sql`${isMember} = ${value.toLowerCase() === 'true'}`,
}

export function pageOfUsers(
  db: Db,
  domainId: string,
  where: Statement,
  { limit, offset }: { limit: number; offset: number },
): Promise<ShownUserRow[]> {
  return db.rows(sql`
    ${shown} WHERE scim_user.domain_id = ${domainId} AND ${where}
    ORDER BY scim_user.id LIMIT ${limit} OFFSET ${offset}`)
}

/** The next ones in the order of their ids: for a walk over all of them. */
export function usersAfter(
  db: Db,
  domainId: string,
  where: Statement,
  after: string,
  limit: number,
  withTheirGroups: boolean,
): Promise<ShownUserRow[]> {
  return db.rows(sql`
    ${withTheirGroups ? shown : withoutGroups}
    WHERE scim_user.domain_id = ${domainId} AND scim_user.id > ${after} AND ${where}
    ORDER BY scim_user.id LIMIT ${limit}`)
}

export async function countUsers(db: Db, domainId: string, where = sql`TRUE`): Promise<number> {
  const row = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM scim_user WHERE domain_id = ${domainId} AND ${where}`,
  )
  return row.count
}

/** The person behind an account, to the same directory. */
export function findUserOfAccount(
  db: Db,
  domainId: string,
  userId: number,
): Promise<ScimUserRow | undefined> {
  return db.row(sql`SELECT * FROM scim_user WHERE domain_id = ${domainId} AND user_id = ${userId}`)
}

export function findUserNamed(db: Db, domainId: string, userName: string): Promise<ScimUserRow | undefined> {
  return db.row(
    sql`SELECT * FROM scim_user WHERE domain_id = ${domainId} AND lower(user_name) = lower(${userName})`,
  )
}

export function insertScimUser(
  db: Db,
  { id: domainId, organization_id }: { id: string; organization_id: string },
  userId: number,
  fields: Pick<ScimUserRow, 'user_name' | 'external_id' | 'resource'>,
  now: Date,
): Promise<ScimUserRow> {
  return db.only(sql`
    INSERT INTO scim_user (id, domain_id, organization_id, user_id, user_name, external_id, resource, created_at, updated_at)
    VALUES (${uuid7(now)}, ${domainId}, ${organization_id}, ${userId}, ${fields.user_name}, ${fields.external_id},
      ${fields.resource}, ${now}, ${now}) RETURNING *`)
}

/** A change that the directory sees: the version goes up with it. */
export async function updateScimUser(
  db: Db,
  domainId: string,
  id: string,
  fields: Partial<Pick<ScimUserRow, 'user_name' | 'external_id' | 'resource' | 'last_level'>>,
  now: Date,
): Promise<void> {
  await db.run(sql`
    UPDATE scim_user SET ${assignments({ ...fields, updated_at: now })}, version = version + 1
    WHERE domain_id = ${domainId} AND id = ${id}`)
}

export async function deleteScimUser(db: Db, domainId: string, id: string): Promise<void> {
  await db.run(sql`DELETE FROM scim_user WHERE domain_id = ${domainId} AND id = ${id}`)
}

export async function countOtherMemberships(db: Db, organizationId: string, userId: number): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM membership
    WHERE user_id = ${userId} AND organization_id <> ${organizationId}`)
  return row.count
}

/** Whether it is time to tell the owners; once a day at most for each person. */
export async function claimTellingOwners(db: Db, domainId: string, id: string, now: Date): Promise<boolean> {
  const aDayAgo = new Date(now.getTime() - 24 * 60 * 60 * 1000)
  const claimed = await db.run(sql`
    UPDATE scim_user SET owners_told_at = ${now}
    WHERE domain_id = ${domainId} AND id = ${id} AND (owners_told_at IS NULL OR owners_told_at <= ${aDayAgo})`)
  return claimed === 1
}
