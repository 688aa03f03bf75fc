// Every SQL statement about API keys.
import { randomBase62 } from '../../lib/base62.ts'
import type { Db } from '../../platform/db/database.ts'
import { assignments, sql } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { Level } from '../../platform/http/caller.ts'
import { isReachableByUser } from '../projects/access.ts'
import { opensToPersonalKeys } from '../members/queries.ts'
import { embeddedUser, lockUser } from '../users/queries.ts'
import type { EmbeddedUser } from '../users/schema.ts'
import type { KeyValue } from './key-value.ts'
import type { KeyFields, KeyRow } from './schema.ts'

/** A key belongs to a person or to an organization; every statement below is fenced to one of the two. */
export type KeyOwner = { user_id: number } | { organization_id: string; level: Level }
type OwnerRef = { user_id: number } | { organization_id: string }

export type KeyLookup = KeyRow & {
  user_uuid: string | null
  email: string | null
  first_name: string | null
  is_staff: boolean | null
  is_active: boolean | null
  has_2fa: boolean
  current_organization_id: string | null
  current_project_id: number | null
}

/** On every request made with a key: the key and the person behind it in one statement. */
export function findKeyByHash(db: Db, valueHash: string): Promise<KeyLookup | undefined> {
  return db.row(sql`
    SELECT api_key.*, app_user.uuid AS user_uuid, email, first_name, is_staff, is_active, current_organization_id,
      current_project_id,
      EXISTS (SELECT FROM totp_device WHERE totp_device.user_id = app_user.id) AS has_2fa
    FROM api_key LEFT JOIN app_user ON app_user.id = api_key.user_id
    WHERE value_hash = ${valueHash}`)
}

/** When several requests come at once, only the first writes. A full disk must not keep programs from reading. */
export async function touchKey(db: Db, id: string, now: Date, unlessUsedSince: Date): Promise<void> {
  await db
    .run(
      sql`
      UPDATE api_key SET last_used_at = ${now}
      WHERE id = ${id} AND (last_used_at IS NULL OR last_used_at <= ${unlessUsedSince})`,
    )
    .catch(() => 0)
}

export async function hasKey(db: Db, id: string): Promise<boolean> {
  return (await db.row(sql`SELECT FROM api_key WHERE id = ${id}`)) !== undefined
}

export function insertKey(
  db: Db,
  owner: KeyOwner,
  fields: KeyFields & { label: string; scopes: string[] },
  value: KeyValue,
  createdBy: number | null,
  now: Date,
): Promise<KeyRow> {
  const columns =
    'user_id' in owner
      ? { user_id: owner.user_id, organization_id: null, level: null }
      : { user_id: null, ...owner }
  return db.only(sql`
    INSERT INTO api_key (id, user_id, organization_id, level, label, value_hash, mask_value, scopes, scoped_organizations,
      scoped_teams, created_by, created_at, expires_at)
    VALUES (${randomBase62(16)}, ${columns.user_id}, ${columns.organization_id}, ${columns.level}, ${fields.label},
      ${value.value_hash}, ${value.mask_value}, ${fields.scopes}, ${fields.scoped_organizations ?? []},
      ${fields.scoped_teams ?? []}, ${createdBy}, ${now}, ${fields.expires_at ?? null})
    RETURNING *`)
}

/** Locks the user, so that two creations at once cannot pass the limit together. */
export async function lockAndCountKeys(db: Db, userId: number): Promise<number> {
  await lockUser(db, userId)
  return (
    await db.only<{ count: number }>(
      sql`SELECT count(*)::int AS count FROM api_key WHERE user_id = ${userId}`,
    )
  ).count
}

export function listPersonalKeys(db: Db, userId: number): Promise<KeyRow[]> {
  return db.rows(sql`SELECT * FROM api_key WHERE user_id = ${userId} ORDER BY created_at DESC, id`)
}

export type ServiceKeyRow = KeyRow & { creator: EmbeddedUser | null }

const serviceKeyColumns = sql`api_key.*, ${embeddedUser} AS creator`

export function listServiceKeys(db: Db, organizationId: string, page: Page): Promise<ServiceKeyRow[]> {
  return db.rows(sql`
    SELECT ${serviceKeyColumns} FROM api_key LEFT JOIN app_user ON app_user.id = api_key.created_by
    WHERE organization_id = ${organizationId} ORDER BY created_at DESC, api_key.id LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countServiceKeys(db: Db, organizationId: string): Promise<number> {
  const row = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM api_key WHERE organization_id = ${organizationId}`,
  )
  return row.count
}

export function findServiceKey(
  db: Db,
  organizationId: string,
  id: string,
): Promise<ServiceKeyRow | undefined> {
  return db.row(sql`
    SELECT ${serviceKeyColumns} FROM api_key LEFT JOIN app_user ON app_user.id = api_key.created_by
    WHERE organization_id = ${organizationId} AND api_key.id = ${id}`)
}

export function findPersonalKey(db: Db, userId: number, id: string): Promise<KeyRow | undefined> {
  return db.row(sql`SELECT * FROM api_key WHERE user_id = ${userId} AND id = ${id}`)
}

export function updateKey(db: Db, owner: OwnerRef, id: string, fields: KeyFields): Promise<KeyRow> {
  return db.only(
    sql`UPDATE api_key SET ${assignments(fields)} WHERE ${ownedBy(owner)} AND id = ${id} RETURNING *`,
  )
}

export function replaceKeyValue(
  db: Db,
  owner: OwnerRef,
  id: string,
  value: KeyValue,
  now: Date,
): Promise<KeyRow> {
  return db.only(sql`
    UPDATE api_key SET value_hash = ${value.value_hash}, mask_value = ${value.mask_value}, last_rolled_at = ${now}
    WHERE ${ownedBy(owner)} AND id = ${id} RETURNING *`)
}

/** The deleted row; throws RowGone when somebody else was faster. */
export function deleteKey(db: Db, owner: OwnerRef, id: string): Promise<KeyRow> {
  return db.only(sql`DELETE FROM api_key WHERE ${ownedBy(owner)} AND id = ${id} RETURNING *`)
}

export function deleteKeysOfUser(db: Db, userId: number): Promise<KeyRow[]> {
  return db.rows(sql`DELETE FROM api_key WHERE user_id = ${userId} RETURNING *`)
}

/** Personal keys that still work. */
export async function countWorkingKeys(db: Db, userId: number, now: Date): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM api_key
    WHERE user_id = ${userId} AND (expires_at IS NULL OR expires_at > ${now})`)
  return row.count
}

function ownedBy(owner: OwnerRef) {
  return 'user_id' in owner
    ? sql`user_id = ${owner.user_id}`
    : sql`organization_id = ${owner.organization_id}`
}

export async function areOrganizationsInReach(
  db: Db,
  userId: number,
  ids: readonly string[],
): Promise<boolean> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM membership
    WHERE user_id = ${userId} AND organization_id = ANY(${ids}::uuid[]) AND ${opensToPersonalKeys}`)
  return row.count === new Set(ids).size
}

export async function areProjectsInReach(db: Db, owner: OwnerRef, ids: readonly number[]): Promise<boolean> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM project
    WHERE id = ANY(${ids}::int[]) AND ${
      'user_id' in owner
        ? sql`${isReachableByUser(owner.user_id)} AND organization_id IN (
            SELECT organization_id FROM membership WHERE user_id = ${owner.user_id} AND ${opensToPersonalKeys})`
        : sql`organization_id = ${owner.organization_id}`
    }`)
  return row.count === new Set(ids).size
}

type Limits = Pick<KeyFields, 'scoped_organizations' | 'scoped_teams'>

/** Whether all organizations that a key of the user could open are closed to it. Without any, there is none closed. */
export async function isClosedEverywhere(db: Db, userId: number, limits: Limits): Promise<boolean> {
  const { scoped_organizations: organizations = [], scoped_teams: projects = [] } = limits
  const row = await db.only<{ all: number; open: number }>(sql`
    SELECT count(*)::int AS all, (count(*) FILTER (WHERE ${opensToPersonalKeys}))::int AS open FROM membership
    WHERE user_id = ${userId}
      AND (cardinality(${organizations}::uuid[]) = 0 OR organization_id = ANY(${organizations}::uuid[]))
      AND (cardinality(${projects}::int[]) = 0 OR organization_id IN (
        SELECT organization_id FROM project WHERE id = ANY(${projects}::int[])))`)
  return row.all > 0 && row.open === 0
}

/** The keys of a member whose limits let them into an organization. */
export function listKeysFor(db: Db, organizationId: string, userId: number): Promise<KeyRow[]> {
  return db.rows(sql`
    SELECT * FROM api_key
    WHERE user_id = ${userId} AND (${organizationId}::uuid = ANY(scoped_organizations)
      OR scoped_teams && (SELECT array_agg(id) FROM project WHERE organization_id = ${organizationId})
      OR (cardinality(scoped_organizations) = 0 AND cardinality(scoped_teams) = 0))
    ORDER BY created_at DESC, id`)
}
