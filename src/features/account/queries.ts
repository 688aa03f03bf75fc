// SQL behind the account page: the organizations of a user, and what it takes to delete one.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Caller, Level } from '../../platform/http/caller.ts'
import { domainOf } from '../domains/queries.ts'
import type { MembershipRow } from '../members/schema.ts'
import { isWithinReach } from '../projects/current.ts'

export type OwnOrganizationRow = {
  id: string
  name: string
  slug: string
  members_can_use_personal_api_keys: boolean
  level: Level
}

/** Those that the caller's key reaches. The one joined first comes first: it is the current one until another is chosen. */
export function listOwnOrganizations(db: Db, userId: number, caller: Caller): Promise<OwnOrganizationRow[]> {
  return db.rows(sql`
    SELECT organization.id, name, slug, members_can_use_personal_api_keys, level
    FROM membership JOIN organization ON organization.id = organization_id
    WHERE user_id = ${userId} AND ${isWithinReach(caller)} ORDER BY joined_at, membership.id`)
}

/** In the order of their organizations, which is the order in which others lock them. */
export function listMembershipsOf(db: Db, userId: number): Promise<MembershipRow[]> {
  return db.rows(sql`SELECT * FROM membership WHERE user_id = ${userId} ORDER BY organization_id`)
}

/** Domains whose logs may name somebody: those of organizations they belong to or a directory put them in, or that have their addresses. */
export async function listDomainsAround(
  db: Db,
  userId: number,
  addresses: readonly string[],
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    SELECT id FROM domain WHERE organization_id IN (
      SELECT organization_id FROM membership WHERE user_id = ${userId}
      UNION SELECT organization_id FROM scim_user WHERE user_id = ${userId}
      UNION SELECT organization_id FROM domain WHERE domain = ANY(${addresses.map(domainOf)}))`)
  return rows.map(({ id }) => id)
}

/** One at a time: two owners, or the last two accounts, must not both find the other still there. */
export async function lockAccountDeletion(tx: Db): Promise<void> {
  await tx.run(sql`SELECT pg_advisory_xact_lock(hashtextextended('account deletion', 0))`)
}

export type PendingInviteRow = {
  id: string
  target_email: string
  organization_id: string
  organization_name: string
  created_at: Date
}

/** Invites to an address that have not expired, newest first. */
export function listPendingInvites(db: Db, email: string, now: Date): Promise<PendingInviteRow[]> {
  return db.rows(sql`
    SELECT invite.id, target_email, organization_id, organization.name AS organization_name, invite.created_at
    FROM invite JOIN organization ON organization.id = organization_id
    WHERE lower(target_email) = lower(${email}) AND expires_at > ${now}
    ORDER BY invite.created_at DESC, invite.id LIMIT 100`)
}
