// Every SQL statement about roles and who has them.
import { uuid7 } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import { memberColumns } from '../members/queries.ts'
import type { MemberRow } from '../members/schema.ts'
import type { RoleMembershipRow, RoleRow } from './schema.ts'

export function listRoles(db: Db, organizationId: string, page: Page): Promise<RoleRow[]> {
  return db.rows(sql`
    SELECT * FROM role WHERE organization_id = ${organizationId}
    ORDER BY created_at, id LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countRoles(db: Db, organizationId: string): Promise<number> {
  const row = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM role WHERE organization_id = ${organizationId}`,
  )
  return row.count
}

export function findRole(db: Db, organizationId: string, id: string): Promise<RoleRow | undefined> {
  return db.row(sql`SELECT * FROM role WHERE organization_id = ${organizationId} AND id = ${id}`)
}

/** As it stands now, and until the transaction ends. */
export function lockRole(db: Db, organizationId: string, id: string): Promise<RoleRow> {
  return db.only(
    sql`SELECT * FROM role WHERE organization_id = ${organizationId} AND id = ${id} FOR NO KEY UPDATE`,
  )
}

export function insertRole(db: Db, organizationId: string, name: string, now: Date): Promise<RoleRow> {
  return db.only(sql`
    INSERT INTO role (id, organization_id, name, created_at)
    VALUES (${uuid7(now)}, ${organizationId}, ${name}, ${now}) RETURNING *`)
}

export function renameRole(db: Db, organizationId: string, id: string, name: string): Promise<RoleRow> {
  return db.only(sql`
    UPDATE role SET name = ${name} WHERE organization_id = ${organizationId} AND id = ${id} RETURNING *`)
}

/** Who has it loses what it gave (ON DELETE CASCADE); throws RowGone when somebody else was faster. */
export function deleteRole(db: Db, organizationId: string, id: string): Promise<RoleRow> {
  return db.only(sql`DELETE FROM role WHERE organization_id = ${organizationId} AND id = ${id} RETURNING *`)
}

type Listed = MemberRow & {
  role_membership_id: string
  role_id: string
  role_joined_at: Date
  role_updated_at: Date
}

const listed = sql`
  SELECT ${memberColumns}, role_membership.id AS role_membership_id, role_id, role_membership.joined_at AS role_joined_at,
    role_membership.updated_at AS role_updated_at
  FROM role_membership JOIN membership ON membership.id = membership_id JOIN app_user ON app_user.id = user_id`

/** Memberships of active users, oldest first. */
export async function listRoleMemberships(
  db: Db,
  organizationId: string,
  roleIds: readonly string[],
  page: Page | null = null,
): Promise<RoleMembershipRow[]> {
  const rows = await db.rows<Listed>(sql`
    ${listed} WHERE role_membership.organization_id = ${organizationId} AND role_id = ANY(${roleIds}::uuid[]) AND is_active
    ORDER BY role_membership.joined_at, role_membership.id LIMIT ${page?.limit ?? null} OFFSET ${page?.offset ?? 0}`)
  return rows.map(toRoleMembership)
}

export async function countRoleMemberships(db: Db, organizationId: string, roleId: string): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count
    FROM role_membership JOIN membership ON membership.id = membership_id JOIN app_user ON app_user.id = user_id
    WHERE role_membership.organization_id = ${organizationId} AND role_id = ${roleId} AND is_active`)
  return row.count
}

export async function findRoleMembership(
  db: Db,
  organizationId: string,
  roleId: string,
  id: string,
): Promise<RoleMembershipRow | undefined> {
  const row = await db.row<Listed>(sql`
    ${listed} WHERE role_membership.organization_id = ${organizationId} AND role_id = ${roleId}
      AND role_membership.id = ${id} AND is_active`)
  return row && toRoleMembership(row)
}

function toRoleMembership(row: Listed): RoleMembershipRow {
  const { role_membership_id, role_id, role_joined_at, role_updated_at, ...member } = row
  return {
    id: role_membership_id,
    role_id,
    joined_at: role_joined_at,
    updated_at: role_updated_at,
    member,
  }
}

export async function insertRoleMembership(
  db: Db,
  { organization_id, id }: RoleRow,
  membershipId: string,
  now: Date,
): Promise<string> {
  const row = await db.only<{ id: string }>(sql`
    INSERT INTO role_membership (id, organization_id, role_id, membership_id, joined_at, updated_at)
    VALUES (${uuid7(now)}, ${organization_id}, ${id}, ${membershipId}, ${now}, ${now}) RETURNING id`)
  return row.id
}

export async function deleteRoleMembership(db: Db, organizationId: string, id: string): Promise<number> {
  return db.run(sql`DELETE FROM role_membership WHERE organization_id = ${organizationId} AND id = ${id}`)
}

type RoleRef = Pick<RoleRow, 'id' | 'organization_id'>

/** Gives the role to members who lack it. */
export async function addToRole(
  db: Db,
  { id, organization_id }: RoleRef,
  membershipIds: readonly string[],
  now: Date,
): Promise<void> {
  const rows = membershipIds.map((membership_id) => ({ id: uuid7(now), membership_id }))
  await db.run(sql`
    INSERT INTO role_membership (id, organization_id, role_id, membership_id, joined_at, updated_at)
    SELECT given.id, ${organization_id}, ${id}, membership_id, ${now}, ${now}
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS given (id uuid, membership_id uuid)
    ON CONFLICT ON CONSTRAINT role_membership_unique DO NOTHING`)
}

/** Takes the role from everybody else. */
export async function keepInRole(
  db: Db,
  { id, organization_id }: RoleRef,
  membershipIds: readonly string[],
): Promise<void> {
  await db.run(sql`
    DELETE FROM role_membership WHERE organization_id = ${organization_id} AND role_id = ${id}
      AND membership_id <> ALL(${membershipIds}::uuid[])`)
}
