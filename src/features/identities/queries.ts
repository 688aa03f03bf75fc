// Every SQL statement about identities.
import { uuid7 } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { LEVELS } from '../../platform/http/caller.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { IdentityRow, Provider, Vouched } from './schema.ts'

export function findIdentity(db: Db, vouched: Vouched): Promise<IdentityRow | undefined> {
  const { provider, issuer, subject, domain_id } = vouched
  return db.row(sql`
    SELECT * FROM identity WHERE provider = ${provider} AND issuer = ${issuer} AND subject = ${subject}
      AND domain_id IS NOT DISTINCT FROM ${domain_id}`)
}

/** Sign-ins of one identity take turns, so that many at once make one account. */
export async function lockIdentity(tx: Db, { provider, issuer, subject, domain_id }: Vouched): Promise<void> {
  const name = JSON.stringify([provider, issuer, subject, domain_id])
  await tx.run(sql`SELECT pg_advisory_xact_lock(hashtextextended('identity ' || ${name}, 0))`)
}

export function insertIdentity(db: Db, userId: number, vouched: Vouched, now: Date): Promise<IdentityRow> {
  const { provider, issuer, subject, domain_id, email } = vouched
  return db.only(sql`
    INSERT INTO identity (id, user_id, provider, issuer, subject, domain_id, email, created_at, last_used_at)
    VALUES (${uuid7(now)}, ${userId}, ${provider}, ${issuer}, ${subject}, ${domain_id}, ${email}, ${now}, ${now})
    RETURNING *`)
}

export async function touchIdentity(db: Db, id: string, email: string | null, now: Date): Promise<void> {
  await db.run(sql`
    UPDATE identity SET last_used_at = ${now}, email = coalesce(${email}, email) WHERE id = ${id}`)
}

export function listIdentities(db: Db, userId: number, page: Page): Promise<IdentityRow[]> {
  return db.rows(sql`
    SELECT * FROM identity WHERE user_id = ${userId}
    ORDER BY created_at, id LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countIdentities(db: Db, userId: number): Promise<number> {
  const { count } = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM identity WHERE user_id = ${userId}`,
  )
  return count
}

export function findIdentityOf(db: Db, userId: number, id: string): Promise<IdentityRow | undefined> {
  return db.row(sql`SELECT * FROM identity WHERE user_id = ${userId} AND id = ${id}`)
}

export async function deleteIdentity(db: Db, userId: number, id: string): Promise<boolean> {
  return (await db.run(sql`DELETE FROM identity WHERE user_id = ${userId} AND id = ${id}`)) > 0
}

/** Whoever linked them since then may not have been the user. */
export async function forgetIdentitiesSince(db: Db, userId: number, since: Date): Promise<void> {
  await db.run(sql`DELETE FROM identity WHERE user_id = ${userId} AND created_at > ${since}`)
}

/** What a domain's provider said of its people counts no more, as when the domain gets another name. */
export async function forgetIdentitiesOf(db: Db, domainId: string): Promise<void> {
  await db.run(sql`DELETE FROM identity WHERE domain_id = ${domainId}`)
}

/** What the domain's provider said of owners of its organization, and of staff of the instance, counts no more. */
export async function forgetIdentitiesAboveAdmins(
  db: Db,
  domain: { id: string; organization_id: string },
): Promise<void> {
  await db.run(sql`
    DELETE FROM identity USING app_user WHERE domain_id = ${domain.id} AND app_user.id = identity.user_id
      AND (is_staff OR EXISTS (
        SELECT FROM membership WHERE membership.user_id = app_user.id AND level = ${LEVELS.owner}
          AND organization_id = ${domain.organization_id}))`)
}

/** The provider was used since then by an admin of the organization, for this domain or an address of it. */
export async function wasUsedByAdmin(
  db: Db,
  domain: { id: string; organization_id: string; domain: string },
  provider: Provider,
  since: Date,
): Promise<boolean> {
  const row = await db.row(sql`
    SELECT FROM identity
    JOIN membership ON membership.user_id = identity.user_id
      AND membership.organization_id = ${domain.organization_id} AND membership.level >= ${LEVELS.admin}
    WHERE provider = ${provider} AND last_used_at >= ${since}
      AND (domain_id = ${domain.id}
        OR domain_id IS NULL AND lower(substring(identity.email from '[^@]*$')) = ${domain.domain})
    LIMIT 1`)
  return row !== undefined
}
