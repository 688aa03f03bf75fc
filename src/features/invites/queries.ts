// Every SQL statement about invites.
import { randomUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Level } from '../../platform/http/caller.ts'
import type { Page } from '../../platform/http/paging.ts'
import { embeddedUser } from '../users/queries.ts'
import { expiryFrom } from './rules.ts'
import type { InviteRow, ListedInvite, ProjectAccess } from './schema.ts'

const listed = sql`invite.*, ${embeddedUser} AS creator
  FROM invite LEFT JOIN app_user ON app_user.id = invite.created_by`

export function listInvites(db: Db, organizationId: string, page: Page): Promise<ListedInvite[]> {
  return db.rows(sql`
    SELECT ${listed} WHERE organization_id = ${organizationId}
    ORDER BY invite.created_at DESC, invite.id LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countInvites(db: Db, organizationId: string): Promise<number> {
  const row = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM invite WHERE organization_id = ${organizationId}`,
  )
  return row.count
}

export function findInvite(db: Db, organizationId: string, id: string): Promise<ListedInvite | undefined> {
  return db.row(sql`SELECT ${listed} WHERE organization_id = ${organizationId} AND invite.id = ${id}`)
}

/** Whichever organization it is of; who asks has its link. `lock` keeps two acceptances of one invite apart. */
export function findInviteById(
  db: Db,
  id: string,
  lock: 'locked' | 'unlocked',
): Promise<InviteRow | undefined> {
  return lock === 'locked'
    ? db.row(sql`SELECT * FROM invite WHERE id = ${id} FOR UPDATE`)
    : db.row(sql`SELECT * FROM invite WHERE id = ${id}`)
}

/** For an address that somebody vouches for: of the preferred organization if there is one, else the newest. */
export function findPendingInvite(
  db: Db,
  email: string,
  preferredOrganizationId: string | null,
  now: Date,
): Promise<InviteRow | undefined> {
  return db.row(sql`
    SELECT * FROM invite WHERE lower(target_email) = lower(${email}) AND expires_at > ${now}
    ORDER BY organization_id IS NOT DISTINCT FROM ${preferredOrganizationId}::uuid DESC, created_at DESC, id
    LIMIT 1 FOR UPDATE`)
}

/** One inviting call at a time per organization: each replaces what was pending for its addresses. */
export async function lockInvites(db: Db, organizationId: string): Promise<void> {
  await db.run(sql`SELECT pg_advisory_xact_lock(hashtextextended('invites ' || ${organizationId}, 0))`)
}

export type NewInvite = {
  target_email: string
  first_name: string
  level: Level
  message: string | null
  private_project_access: ProjectAccess[]
  emailing_attempt_made: boolean
  created_by: number | null
}

export function insertInvite(
  db: Db,
  organizationId: string,
  invite: NewInvite,
  now: Date,
): Promise<InviteRow> {
  return db.only(sql`
    INSERT INTO invite (id, organization_id, target_email, first_name, level, message, emailing_attempt_made, created_by,
      created_at, updated_at, expires_at, private_project_access)
    VALUES (${randomUuid()}, ${organizationId}, ${invite.target_email}, ${invite.first_name}, ${invite.level},
      ${invite.message}, ${invite.emailing_attempt_made}, ${invite.created_by}, ${now}, ${now}, ${expiryFrom(now)},
      ${JSON.stringify(invite.private_project_access)})
    RETURNING *`)
}

export function renewInvite(
  db: Db,
  organizationId: string,
  id: string,
  emailing: boolean,
  now: Date,
): Promise<InviteRow> {
  return db.only(sql`
    UPDATE invite SET expires_at = ${expiryFrom(now)}, updated_at = ${now},
      emailing_attempt_made = emailing_attempt_made OR ${emailing}
    WHERE organization_id = ${organizationId} AND id = ${id} RETURNING *`)
}

export async function deleteInvite(db: Db, organizationId: string, id: string): Promise<number> {
  return db.run(sql`DELETE FROM invite WHERE organization_id = ${organizationId} AND id = ${id}`)
}

/** All invites of the organization for an address, whatever its case; their links die. */
export function deleteInvitesFor(db: Db, organizationId: string, email: string): Promise<InviteRow[]> {
  return db.rows(sql`
    DELETE FROM invite WHERE organization_id = ${organizationId} AND lower(target_email) = lower(${email}) RETURNING *`)
}

export async function isMemberAddress(db: Db, organizationId: string, email: string): Promise<boolean> {
  const row = await db.only<{ found: boolean }>(sql`
    SELECT EXISTS (SELECT FROM membership JOIN app_user ON app_user.id = user_id
      WHERE organization_id = ${organizationId} AND lower(email) = lower(${email})) AS found`)
  return row.found
}
