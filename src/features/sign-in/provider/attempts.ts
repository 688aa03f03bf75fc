// A sign-in on its way to a provider and back. Its state goes through the provider, its cookie stays in the browser: who
// brings one without the other did not begin it. Used once, within ten minutes.
import { createHash, randomBytes } from 'node:crypto'
import { isSameText } from '../../../lib/same-text.ts'
import { uuid7 } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { SmallCookie } from '../../../platform/http/route.ts'
import type { Services } from '../../../platform/services.ts'
import type { Provider } from '../../identities/schema.ts'
import type { RefusalCode } from './refusals.ts'
import type { Kept, Verdict } from './way.ts'

const LIFETIME_MS = 10 * 60 * 1000

export type Purpose = 'sign-in' | 'test'

type AttemptRow = {
  id: string
  state_hash: string
  browser_hash: string
  provider: Provider
  domain_id: string | null
  purpose: Purpose
  next: string
  sealed_kept: string
  sealed_verdict: string | null
  expires_at: Date
}

export type Attempt = Pick<AttemptRow, 'id' | 'provider' | 'domain_id' | 'purpose' | 'next'>

type Held = { services: Services; db: Db; now: Date }

export function newState(): string {
  return randomBytes(32).toString('base64url')
}

export async function openAttempt(
  { services, db, now }: Held,
  attempt: Omit<Attempt, 'id'>,
  state: string,
  kept: Kept,
): Promise<SmallCookie> {
  const id = uuid7(now)
  const browser = randomBytes(32).toString('base64url')
  const sealed_kept = services.secrets.seal(JSON.stringify(kept), placeOf(id, 'sealed_kept'))
  await db.run(sql`
    INSERT INTO sign_in_attempt (id, state_hash, browser_hash, provider, domain_id, purpose, next, sealed_kept, created_at,
      expires_at)
    VALUES (${id}, ${hash(state)}, ${hash(browser)}, ${attempt.provider}, ${attempt.domain_id}, ${attempt.purpose},
      ${attempt.next}, ${sealed_kept}, ${now}, ${new Date(now.getTime() + LIFETIME_MS)})`)
  return { name: cookieName(state), value: browser, max_age_s: LIFETIME_MS / 1000 }
}

/** Takes the attempt away: whatever comes of it, its state opens nothing a second time. */
export async function takeAttempt(
  held: Held,
  provider: Provider,
  state: string,
  cookies: string | undefined,
): Promise<{ attempt: Attempt; kept: Kept; verdict: Verdict | null } | { refused: RefusalCode }> {
  const { services, db, now } = held
  const row = await db.row<AttemptRow>(sql`SELECT * FROM sign_in_attempt WHERE state_hash = ${hash(state)}`)
  if (!row || row.provider !== provider || row.expires_at <= now) return { refused: 'attempt_unknown' }
  const browser = cookieOf(cookies, cookieName(state))
  // Another browser takes nothing away: whoever began it can still finish.
  if (browser === undefined || !isSameText(hash(browser), row.browser_hash))
    return { refused: 'other_browser' }
  if ((await db.run(sql`DELETE FROM sign_in_attempt WHERE id = ${row.id}`)) === 0)
    return { refused: 'attempt_unknown' }
  const open = <T>(sealed: string, column: string) =>
    JSON.parse(services.secrets.open(sealed, placeOf(row.id, column))) as T
  return {
    attempt: row,
    kept: open<Kept>(row.sealed_kept, 'sealed_kept'),
    verdict: row.sealed_verdict === null ? null : open<Verdict>(row.sealed_verdict, 'sealed_verdict'),
  }
}

/** What an answer must fit that came without the browser's cookie; the attempt stays until the browser fetches the verdict. */
export async function peekAttempt(
  { services, db, now }: Held,
  provider: Provider,
  state: string,
): Promise<{ attempt: Attempt; kept: Kept } | null> {
  const row = await db.row<AttemptRow>(sql`
    SELECT * FROM sign_in_attempt
    WHERE state_hash = ${hash(state)} AND provider = ${provider} AND expires_at > ${now} AND sealed_verdict IS NULL`)
  if (!row) return null
  const kept = services.secrets.open(row.sealed_kept, placeOf(row.id, 'sealed_kept'))
  return { attempt: row, kept: JSON.parse(kept) as Kept }
}

/** False when a verdict is there already. */
export async function keepVerdict(
  { services, db }: Pick<Held, 'services' | 'db'>,
  { id }: Attempt,
  verdict: Verdict,
): Promise<boolean> {
  const sealed = services.secrets.seal(JSON.stringify(verdict), placeOf(id, 'sealed_verdict'))
  const kept = await db.run(
    sql`UPDATE sign_in_attempt SET sealed_verdict = ${sealed} WHERE id = ${id} AND sealed_verdict IS NULL`,
  )
  return kept > 0
}

/** Timetable entry. */
export async function forgetOldAttempts(db: Db, now: Date): Promise<number> {
  return db.run(sql`DELETE FROM sign_in_attempt WHERE expires_at <= ${now}`)
}

/** One for each attempt, so that two tabs do not get in each other's way. */
export function cookieName(state: string): string {
  return `sign_on_${hash(state).slice(0, 12)}`
}

function cookieOf(cookies: string | undefined, name: string): string | undefined {
  return cookies
    ?.split(/;\s*/)
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.slice(name.length + 1)
}

function placeOf(row: string, column: string) {
  return { table: 'sign_in_attempt', row, column }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
