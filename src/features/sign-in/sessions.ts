// Sessions: an opaque random token in a cookie, its hash in the table, gone at logout on the server too.
import { createHash, randomBytes } from 'node:crypto'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Caller } from '../../platform/http/caller.ts'
import type { SessionCookie } from '../../platform/http/route.ts'

const LIFETIME_MS = 14 * 24 * 60 * 60 * 1000
const PENDING_LIFETIME_MS = 10 * 60 * 1000

type SignedIn = Extract<Caller, { kind: 'session' }>
type SessionRow = SignedIn['user'] & SignedIn['session']

export type PendingSession = { token_hash: string; user_id: number; expires_at: Date }

export async function openSession(
  db: Db,
  userId: number,
  hasSecondFactor: boolean,
  now: Date,
): Promise<SessionCookie> {
  return openFull(db, { user_id: userId, has_second_factor: hasSecondFactor, confirmed_at: now }, now)
}

/** For whoever holds a mailed link and has shown nothing else: signed in, but not recently. */
export async function openSessionByLink(db: Db, userId: number, now: Date): Promise<SessionCookie> {
  return openFull(db, { user_id: userId, has_second_factor: false, confirmed_at: null }, now)
}

type Opening = Pick<NewSession, 'user_id' | 'has_second_factor' | 'confirmed_at'>

async function openFull(db: Db, opening: Opening, now: Date): Promise<SessionCookie> {
  await db.run(sql`UPDATE app_user SET last_login = ${now} WHERE id = ${opening.user_id}`)
  return insertSession(db, { ...opening, is_pending: false, lifetime_ms: LIFETIME_MS }, now)
}

/** After the right password of a user with a second factor: good for nothing but presenting it. */
export async function openPendingSession(db: Db, userId: number, now: Date): Promise<SessionCookie> {
  return insertSession(
    db,
    {
      user_id: userId,
      is_pending: true,
      has_second_factor: false,
      confirmed_at: null,
      lifetime_ms: PENDING_LIFETIME_MS,
    },
    now,
  )
}

type NewSession = {
  user_id: number
  is_pending: boolean
  has_second_factor: boolean
  confirmed_at: Date | null
  lifetime_ms: number
}

async function insertSession(db: Db, session: NewSession, now: Date): Promise<SessionCookie> {
  const token = randomBytes(32).toString('base64url')
  await db.run(sql`
    INSERT INTO session (token_hash, user_id, is_pending, has_second_factor, confirmed_at, created_at, expires_at)
    VALUES (${hashToken(token)}, ${session.user_id}, ${session.is_pending}, ${session.has_second_factor},
      ${session.confirmed_at}, ${now}, ${new Date(now.getTime() + session.lifetime_ms)})`)
  return { token, max_age_s: session.lifetime_ms / 1000 }
}

/**
 * On every request with a cookie: the session, its user and whether a second factor is demanded, in one statement. The
 * current organization is found as in projects/current.ts, so that no choice at all is no way round the demand.
 */
export async function findCallerBySession(db: Db, token: string, now: Date): Promise<SignedIn | null> {
  const row = await db.row<SessionRow>(sql`
    SELECT app_user.id, app_user.uuid, email, first_name, is_staff, current_organization_id, current_project_id,
      EXISTS (SELECT FROM totp_device WHERE totp_device.user_id = app_user.id) AS has_2fa,
      token_hash, has_second_factor, confirmed_at, coalesce(organization.enforce_2fa, false) AS is_second_factor_demanded
    FROM session JOIN app_user ON app_user.id = session.user_id
    LEFT JOIN organization ON organization.id = (
      SELECT organization_id FROM membership WHERE membership.user_id = app_user.id
      ORDER BY organization_id IS NOT DISTINCT FROM current_organization_id DESC, joined_at, membership.id LIMIT 1)
    WHERE token_hash = ${hashToken(token)} AND NOT is_pending AND session.expires_at > ${now} AND is_active`)
  if (!row) return null
  const { token_hash, has_second_factor, confirmed_at, is_second_factor_demanded, ...user } = row
  return {
    kind: 'session',
    user,
    session: { token_hash, has_second_factor, confirmed_at, is_second_factor_demanded },
  }
}

export function findPendingSession(db: Db, token: string): Promise<PendingSession | undefined> {
  return db.row(sql`
    SELECT token_hash, user_id, expires_at FROM session WHERE token_hash = ${hashToken(token)} AND is_pending`)
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

/** After a changed password: every session of the user but the one that changed it. */
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
