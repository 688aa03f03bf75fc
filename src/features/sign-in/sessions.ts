// Sessions: an opaque random token in a cookie, its hash in the table, gone at logout on the server too.
import { createHash, randomBytes } from 'node:crypto'
import { browserOf } from '../../lib/user-agent.ts'
import { uuid7 } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Caller, SignedInBy } from '../../platform/http/caller.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { RequestFacts, SessionCookie } from '../../platform/http/route.ts'
import type { Services } from '../../platform/services.ts'
import { isAllowed } from '../domains/allowed-ways.ts'

const LIFETIME_MS = 14 * 24 * 60 * 60 * 1000
const PENDING_LIFETIME_MS = 10 * 60 * 1000
/** For putting right what keeps an owner out, and no longer. */
const RECOVERY_LIFETIME_MS = 2 * 60 * 60 * 1000
const TOUCH_EVERY_MS = 60_000

/** The request that signs in; left out by whoever opens a session without one. */
type Visit = Pick<RequestFacts, 'ip' | 'headers'>

type SignedIn = Extract<Caller, { kind: 'session' }>
type SessionRow = SignedIn['user'] &
  SignedIn['session'] & { domain_id: string | null; last_used_at: Date; may_be_closed_by_domain: boolean }

export type PendingSession = {
  token_hash: string
  user_id: number
  signed_in_by: SignedInBy
  domain_id: string | null
  expires_at: Date
}

/** `domain_id` is the domain whose provider, or whose owner's mailed link, was used. */
type Proof = { user_id: number; signed_in_by: SignedInBy; domain_id: string | null }
type Opening = Proof & { has_second_factor: boolean }

const byPassword = (user_id: number): Proof => ({ user_id, signed_in_by: 'password', domain_id: null })

export async function openSessionBy(
  db: Db,
  opening: Opening,
  now: Date,
  visit?: Visit,
): Promise<SessionCookie> {
  return openFull(db, { ...opening, confirmed_at: now, visit }, now)
}

/** With a password, and a second factor or without. */
export async function openSession(
  db: Db,
  userId: number,
  hasSecondFactor: boolean,
  now: Date,
  visit?: Visit,
): Promise<SessionCookie> {
  return openSessionBy(db, { ...byPassword(userId), has_second_factor: hasSecondFactor }, now, visit)
}

/** For whoever holds a mailed link and has shown nothing else: signed in, but not recently. */
export async function openSessionByLink(
  db: Db,
  userId: number,
  now: Date,
  visit?: Visit,
): Promise<SessionCookie> {
  return openFull(db, { ...byPassword(userId), has_second_factor: false, confirmed_at: null, visit }, now)
}

async function openFull(
  db: Db,
  opening: Omit<NewSession, 'is_pending' | 'lifetime_ms'>,
  now: Date,
): Promise<SessionCookie> {
  await db.run(sql`UPDATE app_user SET last_login = ${now} WHERE id = ${opening.user_id}`)
  const lifetime_ms = opening.signed_in_by === 'recovery' ? RECOVERY_LIFETIME_MS : LIFETIME_MS
  return insertSession(db, { ...opening, is_pending: false, lifetime_ms }, now)
}

/** After the first proof of a user with a second factor: good for nothing but presenting it. */
export async function openPendingSession(
  db: Db,
  userId: number,
  now: Date,
  proof: Omit<Proof, 'user_id'> = byPassword(userId),
): Promise<SessionCookie> {
  return insertSession(
    db,
    {
      ...proof,
      user_id: userId,
      is_pending: true,
      has_second_factor: false,
      confirmed_at: null,
      lifetime_ms: PENDING_LIFETIME_MS,
    },
    now,
  )
}

type NewSession = Opening & {
  is_pending: boolean
  confirmed_at: Date | null
  lifetime_ms: number
  visit?: Visit | undefined
}

async function insertSession(db: Db, session: NewSession, now: Date): Promise<SessionCookie> {
  const token = randomBytes(32).toString('base64url')
  const { browser, system } = browserOf([session.visit?.headers['user-agent']].flat()[0])
  await db.run(sql`
    INSERT INTO session (id, token_hash, user_id, signed_in_by, domain_id, is_pending, has_second_factor, confirmed_at, created_at, expires_at,
      last_used_at, last_used_ip, browser, system)
    VALUES (${uuid7(now)}, ${hashToken(token)}, ${session.user_id}, ${session.signed_in_by},
      ${session.domain_id}, ${session.is_pending},
      ${session.has_second_factor}, ${session.confirmed_at}, ${now},
      ${new Date(now.getTime() + session.lifetime_ms)}, ${now}, ${session.visit?.ip ?? ''}, ${browser}, ${system})`)
  return { token, max_age_s: session.lifetime_ms / 1000 }
}

/**
 * On every request with a cookie: the session, its user and whether a second factor is demanded, in one statement. The
 * current organization is found as in projects/current.ts, so that no choice at all is no way round the demand.
 */
export async function findCallerBySession(
  services: Services,
  token: string,
  ip: string,
  now: Date,
): Promise<SignedIn | null> {
  const { db } = services
  const row = await db.row<SessionRow>(sql`
    SELECT app_user.id, app_user.uuid, email, first_name, is_staff, current_organization_id, current_project_id,
      EXISTS (SELECT FROM totp_device WHERE totp_device.user_id = app_user.id) AS has_2fa,
      token_hash, signed_in_by, session.domain_id, has_second_factor, confirmed_at, session.last_used_at,
      coalesce(organization.enforce_2fa AND (signed_in_by IN ('password', 'recovery') OR organization.enforce_2fa_with_sso),
        false) AS is_second_factor_demanded,
      domain.id IS NOT NULL OR email ~ '[^\x01-\x7f]' AS may_be_closed_by_domain
    FROM session JOIN app_user ON app_user.id = session.user_id
    LEFT JOIN organization ON organization.id = (
      SELECT organization_id FROM membership WHERE membership.user_id = app_user.id
      ORDER BY organization_id IS NOT DISTINCT FROM current_organization_id DESC, joined_at, membership.id LIMIT 1)
    LEFT JOIN domain ON domain.domain = lower(substring(email from '[^@]*$')) AND domain.verified_at IS NOT NULL
      AND domain.sso_enforcement <> '' AND (domain.sso_enforcement <> signed_in_by
        OR signed_in_by IN ('saml', 'oidc') AND session.domain_id IS DISTINCT FROM domain.id)
    WHERE token_hash = ${hashToken(token)} AND NOT is_pending AND session.expires_at > ${now} AND is_active`)
  if (!row) return null
  const {
    token_hash,
    signed_in_by,
    domain_id,
    has_second_factor,
    confirmed_at,
    is_second_factor_demanded,
    last_used_at,
    may_be_closed_by_domain,
    ...user
  } = row
  if (may_be_closed_by_domain && !(await isAllowed({ services, db }, user.email, signed_in_by, domain_id))) {
    await closeSession(db, token_hash)
    throw new ApiError(
      'sso_required',
      'Your organization demands sign-in through its identity provider by now: sign in again, with your address.',
    )
  }
  if (now.getTime() - last_used_at.getTime() >= TOUCH_EVERY_MS) await touchSession(db, token_hash, ip, now)
  return {
    kind: 'session',
    user,
    session: { token_hash, signed_in_by, has_second_factor, confirmed_at, is_second_factor_demanded },
  }
}

/** At most one write a minute per session. A full disk must not keep people from looking at what is wrong. */
async function touchSession(db: Db, tokenHash: string, ip: string, now: Date): Promise<void> {
  const aMinuteAgo = new Date(now.getTime() - TOUCH_EVERY_MS)
  await db
    .run(
      sql`
      UPDATE session SET last_used_at = ${now}, last_used_ip = ${ip}
      WHERE token_hash = ${tokenHash} AND last_used_at <= ${aMinuteAgo}`,
    )
    .catch(() => 0)
}

export type BrowserSession = {
  id: string
  token_hash: string
  created_at: Date
  expires_at: Date
  last_used_at: Date
  last_used_ip: string
  browser: string | null
  system: string | null
}

/** Signed in and not expired; pending ones are nobody's yet. */
const isOpenAt = (now: Date) => sql`NOT is_pending AND expires_at > ${now}`

/** The one used last comes first. */
export function listSessions(db: Db, userId: number, page: Page, now: Date): Promise<BrowserSession[]> {
  return db.rows(sql`
    SELECT id, token_hash, created_at, expires_at, last_used_at, last_used_ip, browser, system FROM session
    WHERE user_id = ${userId} AND ${isOpenAt(now)}
    ORDER BY last_used_at DESC, id LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countSessions(db: Db, userId: number, now: Date): Promise<number> {
  const { count } = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM session WHERE user_id = ${userId} AND ${isOpenAt(now)}`)
  return count
}

export function findSession(
  db: Db,
  userId: number,
  id: string,
  now: Date,
): Promise<BrowserSession | undefined> {
  return db.row(sql`
    SELECT id, token_hash, created_at, expires_at, last_used_at, last_used_ip, browser, system FROM session
    WHERE user_id = ${userId} AND id = ${id} AND ${isOpenAt(now)}`)
}

export function findPendingSession(db: Db, token: string): Promise<PendingSession | undefined> {
  return db.row(sql`
    SELECT token_hash, user_id, signed_in_by, domain_id, expires_at FROM session
    WHERE token_hash = ${hashToken(token)} AND is_pending`)
}

/** The domain whose provider opened the session; null for a password, and for providers of the whole instance. */
export async function domainOfSession(db: Db, tokenHash: string): Promise<string | null> {
  const row = await db.row<{ domain_id: string | null }>(
    sql`SELECT domain_id FROM session WHERE token_hash = ${tokenHash}`,
  )
  return row?.domain_id ?? null
}

export async function isSessionOpen(db: Db, tokenHash: string): Promise<boolean> {
  return (await db.row(sql`SELECT FROM session WHERE token_hash = ${tokenHash}`)) !== undefined
}

/** Whether there was one to close. */
export async function closeSession(db: Db, tokenHash: string): Promise<boolean> {
  return (await db.run(sql`DELETE FROM session WHERE token_hash = ${tokenHash}`)) > 0
}

/** Its user has just proved once more who they are; with a second factor, if they have one. */
export async function confirmSession(
  db: Db,
  tokenHash: string,
  hasSecondFactor: boolean,
  now: Date,
): Promise<void> {
  await db.run(sql`
    UPDATE session SET confirmed_at = ${now}, has_second_factor = has_second_factor OR ${hasSecondFactor}
    WHERE token_hash = ${tokenHash}`)
}

/** The session that has just proved its second factor is now as good as one opened with it. */
export async function markSecondFactor(db: Db, tokenHash: string): Promise<void> {
  await db.run(sql`UPDATE session SET has_second_factor = true WHERE token_hash = ${tokenHash}`)
}

/** Every session of the user but one, as after a changed password. */
export async function closeOtherSessions(db: Db, userId: number, keep: string | null): Promise<void> {
  await db.run(sql`DELETE FROM session WHERE user_id = ${userId} AND token_hash IS DISTINCT FROM ${keep}`)
}

/** Timetable entry. */
export async function forgetExpiredSessions(db: Db, now: Date): Promise<number> {
  return db.run(sql`DELETE FROM session WHERE expires_at <= ${now}`)
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
