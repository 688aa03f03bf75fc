// Guessing has an end: wrong passwords lock an address for one place, wrong codes lock a second factor for all places.
// These counts hold whatever RATE_LIMITS says. Locks are named by a keyed hash, so that the table says nothing about who
// failed to sign in.
import type { Db } from '../../platform/db/database.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { originOf } from '../../lib/network.ts'
import { forgetTries, NoTriesLeft, takeTry } from '../../platform/http/tries.ts'
import type { Services } from '../../platform/services.ts'

const WINDOW_MS = 10 * 60 * 1000
const MAX_WRONG_PASSWORDS = 30
const MAX_WRONG_CODES = 10

/** By address and place, not by place alone: one user must not lock a whole office out. */
export function passwordLock(services: Services, email: string, ip: string): string {
  return services.secrets.fingerprint('failed sign-in', email.toLowerCase(), originOf(ip).address)
}

/** By user alone: whoever gets this far knows the password, and another place or another try at it buys no more codes. */
export function codeLock(services: Services, userId: number): string {
  return services.secrets.fingerprint('failed second factor', String(userId))
}

/** By user alone as well: whoever guesses here holds a session of the user, and another place buys no more guesses. */
export function confirmationLock(services: Services, userId: number): string {
  return services.secrets.fingerprint('failed confirmation', String(userId))
}

/** Counts a password as wrong before it is looked at; `forgetFailures` once it was right. */
export async function takePasswordTry(db: Db, lock: string, now: Date): Promise<void> {
  await take(db, lock, MAX_WRONG_PASSWORDS, now, {
    code: 'too_many_failed_attempts',
    detail: 'Too many failed sign-ins: try again in some minutes.',
  })
}

/** Counts a code as wrong before it is looked at; `forgetFailures` once it was right. */
export async function takeCodeTry(db: Db, lock: string, now: Date): Promise<void> {
  await take(db, lock, MAX_WRONG_CODES, now, {
    code: '2fa_too_many_attempts',
    detail: 'Too many wrong codes: wait ten minutes and sign in again.',
  })
}

type Refusal = { code: 'too_many_failed_attempts' | '2fa_too_many_attempts'; detail: string }

async function take(db: Db, lock: string, count: number, now: Date, refusal: Refusal): Promise<void> {
  try {
    await takeTry(db, [{ who: lock, rates: [{ count, window_ms: WINDOW_MS }] }], now)
  } catch (error) {
    if (!(error instanceof NoTriesLeft)) throw error
    const wait_s = Math.max(1, Math.ceil(error.waitMs(now) / 1000))
    throw new ApiError(refusal.code, refusal.detail, null, { 'retry-after': String(wait_s) })
  }
}

export async function forgetFailures(db: Db, lock: string): Promise<void> {
  await forgetTries(db, lock)
}
