// Every SQL statement about the server's own keys, and about assertions that were used.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'

export type SamlKeyRow = { id: string; certificate: string; sealed_private_key: string; created_at: Date }

/** The oldest first. */
export function listKeys(db: Db): Promise<SamlKeyRow[]> {
  return db.rows(sql`SELECT * FROM saml_key ORDER BY created_at, id`)
}

/** One process at a time makes a key. */
export async function lockKeys(db: Db): Promise<void> {
  await db.run(sql`SELECT pg_advisory_xact_lock(hashtextextended('saml_key', 0))`)
}

export function insertKey(db: Db, row: SamlKeyRow): Promise<SamlKeyRow> {
  return db.only(sql`
    INSERT INTO saml_key (id, certificate, sealed_private_key, created_at)
    VALUES (${row.id}, ${row.certificate}, ${row.sealed_private_key}, ${row.created_at}) RETURNING *`)
}

export async function setSealedKey(db: Db, id: string, sealed: string): Promise<void> {
  await db.run(sql`UPDATE saml_key SET sealed_private_key = ${sealed} WHERE id = ${id}`)
}

export async function deleteKey(db: Db, id: string): Promise<void> {
  await db.run(sql`DELETE FROM saml_key WHERE id = ${id}`)
}

/** False when it was used before. */
export async function claimAssertion(
  db: Db,
  domainId: string,
  assertionId: string,
  expiresAt: Date,
): Promise<boolean> {
  const touched = await db.run(sql`
    INSERT INTO saml_assertion (domain_id, assertion_id, expires_at)
    VALUES (${domainId}, ${assertionId}, ${expiresAt}) ON CONFLICT DO NOTHING`)
  return touched > 0
}

/** Timetable entry. A day late: the clock may be ahead now and be set back. */
export async function forgetOldAssertions(db: Db, now: Date): Promise<number> {
  return db.run(sql`DELETE FROM saml_assertion WHERE expires_at <= ${now}::timestamptz - interval '1 day'`)
}
