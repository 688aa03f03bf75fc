// Every SQL statement about login domains.
import { domainToASCII, domainToUnicode } from 'node:url'
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
  fields: DomainFields & { id: string; domain: string },
  challenge: string,
  now: Date,
): Promise<DomainRow> {
  return db.only(sql`
    INSERT INTO domain (id, organization_id, domain, verification_challenge, saml_entity_id, saml_acs_url, saml_x509_cert,
      oidc_issuer, oidc_client_id, oidc_client_secret, created_at, updated_at)
    VALUES (${fields.id}, ${organizationId}, ${fields.domain}, ${challenge}, ${fields.saml_entity_id ?? null},
      ${fields.saml_acs_url ?? null}, ${fields.saml_x509_cert ?? null}, ${fields.oidc_issuer ?? null},
      ${fields.oidc_client_id ?? null}, ${fields.oidc_client_secret ?? null}, ${now}, ${now})
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
  const name = domainOf(email)
  return db.row(sql`SELECT * FROM domain WHERE domain = ${name} AND verified_at IS NOT NULL`)
}

type SealedSecret = { id: string; oidc_client_secret: string }

/** Over all organizations, for sealing anew. */
export function listSealedSecrets(db: Db): Promise<SealedSecret[]> {
  return db.rows(
    sql`SELECT id, oidc_client_secret FROM domain WHERE oidc_client_secret IS NOT NULL ORDER BY id`,
  )
}

/** Only if nobody replaced it in between. */
export async function replaceSealedSecret(db: Db, before: SealedSecret, sealed: string): Promise<void> {
  await db.run(sql`
    UPDATE domain SET oidc_client_secret = ${sealed}
    WHERE id = ${before.id} AND oidc_client_secret = ${before.oidc_client_secret}`)
}

/** As DNS knows it. */
export function domainOf(email: string): string {
  return domainToASCII(email.slice(email.lastIndexOf('@') + 1))
}

/** Those of the addresses that lie in a domain which the organization has proved to be its own. */
export async function ownAddresses(
  db: Db,
  organizationId: string,
  addresses: readonly string[],
): Promise<string[]> {
  const rows = await db.rows<{ domain: string }>(sql`
    SELECT domain FROM domain WHERE organization_id = ${organizationId} AND verified_at IS NOT NULL
      AND domain = ANY(${addresses.map(domainOf)})`)
  const own = new Set(rows.map(({ domain }) => domain))
  return addresses.filter((address) => own.has(domainOf(address)))
}

/** Whose directory it is. Undefined for a wrong token, and where SCIM is off or the domain not verified. */
export function findDomainByScimToken(db: Db, id: string, tokenHash: string): Promise<DomainRow | undefined> {
  return db.row(sql`
    SELECT * FROM domain WHERE id = ${id} AND scim_token_hash = ${tokenHash} AND verified_at IS NOT NULL`)
}

/** Somebody came with a wrong token. A full disk must not turn that into another error. */
export async function noteScimRefused(db: Db, id: string, now: Date): Promise<void> {
  await db
    .run(sql`UPDATE domain SET scim_refused_at = ${now} WHERE id = ${id} AND scim_token_hash IS NOT NULL`)
    .catch(() => 0)
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
