// Every SQL statement about login domains.
import { domainToASCII, domainToUnicode } from 'node:url'
import { uuid7 } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { assignments, sql } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { DomainFields, DomainKeyRow, DomainRow } from './schema.ts'

export function listDomains(db: Db, organizationId: string, page: Page): Promise<DomainRow[]> {
  return db.rows(sql`
    SELECT * FROM domain WHERE organization_id = ${organizationId}
    ORDER BY domain, id LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countDomains(db: Db, organizationId: string): Promise<number> {
  const row = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM domain WHERE organization_id = ${organizationId}`,
  )
  return row.count
}

export function findDomain(db: Db, organizationId: string, id: string): Promise<DomainRow | undefined> {
  return db.row(sql`SELECT * FROM domain WHERE organization_id = ${organizationId} AND id = ${id}`)
}

/** Whichever organization it is of. */
export function findDomainById(db: Db, id: string): Promise<DomainRow | undefined> {
  return db.row(sql`SELECT * FROM domain WHERE id = ${id}`)
}

/** Until the transaction ends nobody else renames, verifies or deletes it. */
export function lockDomain(db: Db, organizationId: string, id: string): Promise<DomainRow> {
  return db.only(
    sql`SELECT * FROM domain WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`,
  )
}

/** One proof of a name at a time: each ends the claims of others, and these may be proved right now. */
export async function lockName(db: Db, name: string): Promise<void> {
  await db.run(sql`SELECT pg_advisory_xact_lock(hashtextextended('domain ' || ${name}, 0))`)
}

/** Whether another organization has proved that the name is its own. */
export async function isProvedElsewhere(db: Db, organizationId: string, name: string): Promise<boolean> {
  const row = await db.row(sql`
    SELECT FROM domain
    WHERE domain = ${name} AND organization_id <> ${organizationId} AND verified_at IS NOT NULL`)
  return row !== undefined
}

/** What other organizations claimed, and somebody else has proved. */
export function deleteOtherClaims(db: Db, { organization_id, domain }: DomainRow): Promise<DomainRow[]> {
  return db.rows(sql`
    DELETE FROM domain WHERE domain = ${domain} AND organization_id <> ${organization_id} RETURNING *`)
}

export function insertDomain(
  db: Db,
  organizationId: string,
  fields: DomainFields & { domain: string },
  challenge: string,
  now: Date,
): Promise<DomainRow> {
  return db.only(sql`
    INSERT INTO domain (id, organization_id, domain, verification_challenge, saml_entity_id, saml_acs_url, saml_x509_cert,
      created_at, updated_at)
    VALUES (${uuid7(now)}, ${organizationId}, ${fields.domain}, ${challenge}, ${fields.saml_entity_id ?? null},
      ${fields.saml_acs_url ?? null}, ${fields.saml_x509_cert ?? null}, ${now}, ${now})
    RETURNING *`)
}

export function updateDomain(
  db: Db,
  organizationId: string,
  id: string,
  fields: Partial<DomainRow>,
  now: Date,
): Promise<DomainRow> {
  return db.only(sql`
    UPDATE domain SET ${assignments({ ...fields, updated_at: now })}
    WHERE organization_id = ${organizationId} AND id = ${id} RETURNING *`)
}

/** The deleted row; throws RowGone when somebody else was faster. */
export function deleteDomain(db: Db, organizationId: string, id: string): Promise<DomainRow> {
  return db.only(sql`DELETE FROM domain WHERE organization_id = ${organizationId} AND id = ${id} RETURNING *`)
}

/**
 * The verified domain of an address, whichever organization owns it: exact name, no subdomains. In any case and
 * spelling: `bücher.example` is the domain that DNS knows as `xn--bcher-kva.example`.
 */
export function findVerifiedDomainOf(db: Db, email: string): Promise<DomainRow | undefined> {
  const name = domainToASCII(email.slice(email.lastIndexOf('@') + 1))
  return db.row(sql`SELECT * FROM domain WHERE domain = ${name} AND verified_at IS NOT NULL`)
}

/** For the daily re-check, over all organizations. */
export function listVerifiedDomains(db: Db): Promise<DomainRow[]> {
  return db.rows(sql`SELECT * FROM domain WHERE verified_at IS NOT NULL ORDER BY id`)
}

/** False when the domain was renamed or deleted since `row` was read: what was found is then about nothing. */
export async function setRecheckFailed(db: Db, row: DomainRow, failedAt: Date | null): Promise<boolean> {
  const touched = await db.run(sql`
    UPDATE domain SET recheck_failed_at = ${failedAt}
    WHERE organization_id = ${row.organization_id} AND id = ${row.id}
      AND verification_challenge = ${row.verification_challenge}`)
  return touched > 0
}

export function listAdminsOf(
  db: Db,
  organizationId: string,
): Promise<{ email: string; first_name: string }[]> {
  return db.rows(sql`
    SELECT email, first_name FROM membership JOIN app_user ON app_user.id = user_id
    WHERE organization_id = ${organizationId} AND level >= 8 AND is_active ORDER BY user_id`)
}

/**
 * Personal keys of members of the organization whose address lies in the domain, however it is spelt. A domain that is
 * not verified has no people.
 */
const keysOf = ({ organization_id, domain, verified_at }: DomainRow) => sql`
  api_key JOIN app_user ON app_user.id = api_key.user_id
  JOIN membership ON membership.user_id = app_user.id AND membership.organization_id = ${organization_id}
  WHERE lower(substring(email from '[^@]*$')) = ANY(${[domain, domainToUnicode(domain)]}::text[])
    AND ${verified_at !== null}`

const keyColumns = sql`api_key.*, app_user.uuid AS user_uuid, email`

export function listKeysOfDomain(db: Db, domain: DomainRow, page: Page): Promise<DomainKeyRow[]> {
  return db.rows(sql`
    SELECT ${keyColumns} FROM ${keysOf(domain)}
    ORDER BY api_key.created_at DESC, api_key.id LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countKeysOfDomain(db: Db, domain: DomainRow): Promise<number> {
  const { count } = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM ${keysOf(domain)}`,
  )
  return count
}

export function findKeyOfDomain(db: Db, domain: DomainRow, id: string): Promise<DomainKeyRow | undefined> {
  return db.row(sql`SELECT ${keyColumns} FROM ${keysOf(domain)} AND api_key.id = ${id}`)
}
