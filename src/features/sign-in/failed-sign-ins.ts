// Thirty wrong passwords for one address from one place lock that pair for ten minutes, not the whole office.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { denied } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'

const MAX_FAILURES = 30
const WINDOW_MS = 10 * 60 * 1000

/** A keyed hash: the table says nothing about who failed to sign in. */
export function placeOf(services: Services, email: string, ip: string): string {
  return services.secrets.fingerprint('failed sign-in', email.toLowerCase(), ip)
}

export async function assertNotLocked(services: Services, who: string, now: Date): Promise<void> {
  const since = new Date(now.getTime() - WINDOW_MS)
  const { count } = await services.db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM failed_sign_in WHERE who = ${who} AND failed_at > ${since}`)
  if (count >= MAX_FAILURES) throw denied('Too many failed sign-ins: try again in some minutes.', 'too_many_failed_attempts')
}

/** On the plain connection: the failure must count even though the request that caused it rolls back. */
export async function countFailure(services: Services, who: string, now: Date): Promise<void> {
  await services.db.run(sql`INSERT INTO failed_sign_in (who, failed_at) VALUES (${who}, ${now})`)
}

export async function forgetFailures(db: Db, who: string): Promise<void> {
  await db.run(sql`DELETE FROM failed_sign_in WHERE who = ${who}`)
}

/** Timetable entry. */
export async function forgetOldFailures(db: Db, now: Date): Promise<number> {
  return db.run(sql`DELETE FROM failed_sign_in WHERE failed_at <= ${new Date(now.getTime() - WINDOW_MS)}`)
}
