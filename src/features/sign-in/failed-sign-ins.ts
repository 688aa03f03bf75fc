// Guessing has an end: wrong passwords lock an address for one place, wrong codes lock a second factor for all places.
// Locks are named by a keyed hash, so that the table says nothing about who failed to sign in.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { denied, invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'

const WINDOW_MS = 10 * 60 * 1000
const MAX_WRONG_PASSWORDS = 30
const MAX_WRONG_CODES = 10

/** By address and place, not by place alone: one user must not lock a whole office out. */
export function passwordLock(services: Services, email: string, ip: string): string {
  return services.secrets.fingerprint('failed sign-in', email.toLowerCase(), ip)
}

/** By user alone: whoever gets this far knows the password, and another place or another try at it buys no more codes. */
export function codeLock(services: Services, userId: number): string {
  return services.secrets.fingerprint('failed second factor', String(userId))
}

/** By user alone as well: whoever guesses here holds a session of the user, and another place buys no more guesses. */
export function confirmationLock(services: Services, userId: number): string {
  return services.secrets.fingerprint('failed confirmation', String(userId))
}

export async function assertNotLocked(db: Db, lock: string, now: Date): Promise<void> {
  const { count } = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM failed_sign_in WHERE who = ${lock} AND failed_at > ${windowStart(now)}`)
  if (count >= MAX_WRONG_PASSWORDS) throw tooManyPasswords()
}

export async function countFailure(db: Db, lock: string, now: Date): Promise<void> {
  await db.run(sql`INSERT INTO failed_sign_in (who, failed_at) VALUES (${lock}, ${now})`)
}

export async function takePasswordTry(db: Db, lock: string, now: Date): Promise<void> {
  if (!(await takeTry(db, lock, MAX_WRONG_PASSWORDS, now))) throw tooManyPasswords()
}

export async function takeCodeTry(db: Db, lock: string, now: Date): Promise<void> {
  if (await takeTry(db, lock, MAX_WRONG_CODES, now)) return
  throw invalid(null, '2fa_too_many_attempts', 'Too many wrong codes: wait ten minutes and sign in again.')
}

/**
 * Counts a try as wrong before it is looked at: of a thousand sent at once, no more are tried than one by one. They take
 * turns, because each must see those that were counted before it.
 */
async function takeTry(db: Db, lock: string, max: number, now: Date): Promise<boolean> {
  return db.transaction(async (tx) => {
    await tx.run(sql`SELECT pg_advisory_xact_lock(hashtextextended('failed sign-in ' || ${lock}, 0))`)
    const taken = await tx.run(sql`
      INSERT INTO failed_sign_in (who, failed_at) SELECT ${lock}, ${now} WHERE ${max} > (
        SELECT count(*) FROM failed_sign_in WHERE who = ${lock} AND failed_at > ${windowStart(now)})`)
    return taken === 1
  })
}

export async function forgetFailures(db: Db, lock: string): Promise<void> {
  await db.run(sql`DELETE FROM failed_sign_in WHERE who = ${lock}`)
}

/** Timetable entry. */
export async function forgetOldFailures(db: Db, now: Date): Promise<number> {
  return db.run(sql`DELETE FROM failed_sign_in WHERE failed_at <= ${windowStart(now)}`)
}

function tooManyPasswords() {
  return denied('Too many failed sign-ins: try again in some minutes.', 'too_many_failed_attempts')
}

function windowStart(now: Date): Date {
  return new Date(now.getTime() - WINDOW_MS)
}
