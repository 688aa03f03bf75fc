// Every SQL statement that reads or writes the rules themselves; what they mean is in ../access.ts.
import { uuid7 } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { AccessControlRow } from './schema.ts'

type ProjectRef = { id: number; organization_id: string }

/** Whom a rule is about: a member, a role, or with neither everybody else. */
export type Subject = { membership_id: string | null; role_id: string | null }

export function listAccessControls(db: Db, { id, organization_id }: ProjectRef): Promise<AccessControlRow[]> {
  return db.rows(sql`
    SELECT * FROM access_control WHERE organization_id = ${organization_id} AND project_id = ${id}
    ORDER BY created_at, id`)
}

export function listRulesOfRoles(
  db: Db,
  organizationId: string,
  roleIds: readonly string[],
): Promise<AccessControlRow[]> {
  return db.rows(sql`
    SELECT * FROM access_control WHERE organization_id = ${organizationId} AND role_id = ANY(${roleIds}::uuid[])
    ORDER BY project_id`)
}

export function findAccessControl(
  db: Db,
  { id, organization_id }: ProjectRef,
  { membership_id, role_id }: Subject,
): Promise<AccessControlRow | undefined> {
  return db.row(sql`
    SELECT * FROM access_control WHERE organization_id = ${organization_id} AND project_id = ${id}
      AND membership_id IS NOT DISTINCT FROM ${membership_id} AND role_id IS NOT DISTINCT FROM ${role_id}`)
}

export function writeAccessControl(
  db: Db,
  { id, organization_id }: ProjectRef,
  { membership_id, role_id }: Subject,
  level: AccessControlRow['level'],
  now: Date,
): Promise<AccessControlRow> {
  return db.only(sql`
    INSERT INTO access_control (id, organization_id, project_id, membership_id, role_id, level, created_at, updated_at)
    VALUES (${uuid7(now)}, ${organization_id}, ${id}, ${membership_id}, ${role_id}, ${level}, ${now}, ${now})
    ON CONFLICT ON CONSTRAINT access_control_unique DO UPDATE SET level = excluded.level, updated_at = excluded.updated_at
    RETURNING *`)
}

export async function deleteAccessControl(db: Db, organizationId: string, id: string): Promise<void> {
  await db.run(sql`DELETE FROM access_control WHERE organization_id = ${organizationId} AND id = ${id}`)
}

/** What people call the subject; undefined when the organization has no such member or role. */
export async function findSubjectName(
  db: Db,
  organizationId: string,
  { membership_id, role_id }: Subject,
): Promise<string | undefined> {
  if (membership_id === null && role_id === null) return 'everybody else'
  const row = await db.row<{ name: string }>(sql`
    SELECT email AS name FROM membership JOIN app_user ON app_user.id = user_id
    WHERE organization_id = ${organizationId} AND membership.id = ${membership_id}
    UNION ALL SELECT name FROM role WHERE organization_id = ${organizationId} AND id = ${role_id}`)
  return row?.name
}
