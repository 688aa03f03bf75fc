// What became of each sign-in through a provider: what an admin looks at when somebody says that it does not work.
import { uuid7 } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'
import type { Provider } from '../../identities/schema.ts'
import type { Purpose } from './attempts.ts'
import type { RefusalCode } from './refusals.ts'
import type { Check } from './way.ts'

const KEPT_MS = 30 * 24 * 60 * 60 * 1000
/** Anybody can make a record by going to a start page: those of a domain take the place of its oldest. */
const MOST_OF_A_DOMAIN = 1000
const MAX_RECEIVED = 8000

/** `link_needed`: the account exists, and its password is asked for before the provider can open it. */
export type Outcome = 'signed_in' | 'link_needed' | RefusalCode

export type RecordRow = {
  id: string
  domain_id: string
  provider: Provider
  purpose: Purpose
  outcome: Outcome
  user_id: number | null
  email: string | null
  ip: string
  checks: Check[]
  received: Record<string, unknown>
  created_at: Date
}

type NewRecord = Omit<RecordRow, 'id' | 'created_at'>

/** Gives its id: what the person is shown, and the admin finds. */
export async function recordSignIn(db: Db, record: NewRecord, now: Date): Promise<string> {
  const id = uuid7(now)
  const text = JSON.stringify(record.received)
  const received = text.length > MAX_RECEIVED ? { too_long: text.slice(0, MAX_RECEIVED) } : record.received
  await db.run(sql`
    INSERT INTO sign_in_record (id, domain_id, provider, purpose, outcome, user_id, email, ip, checks, received, created_at)
    VALUES (${id}, ${record.domain_id}, ${record.provider}, ${record.purpose}, ${record.outcome}, ${record.user_id},
      ${record.email}, ${record.ip}, ${JSON.stringify(record.checks)}, ${JSON.stringify(received)}, ${now})`)
  await db.run(sql`
    DELETE FROM sign_in_record WHERE id IN (
      SELECT id FROM sign_in_record WHERE domain_id = ${record.domain_id}
      ORDER BY created_at DESC, id OFFSET ${MOST_OF_A_DOMAIN})`)
  return id
}

export function listRecords(db: Db, domainId: string, page: Page): Promise<RecordRow[]> {
  return db.rows(sql`
    SELECT * FROM sign_in_record WHERE domain_id = ${domainId}
    ORDER BY created_at DESC, id LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countRecords(db: Db, domainId: string): Promise<number> {
  const { count } = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM sign_in_record WHERE domain_id = ${domainId}`,
  )
  return count
}

export function findRecord(db: Db, domainId: string, id: string): Promise<RecordRow | undefined> {
  return db.row(sql`SELECT * FROM sign_in_record WHERE domain_id = ${domainId} AND id = ${id}`)
}

/** Timetable entry. */
export async function forgetOldRecords(db: Db, now: Date): Promise<number> {
  return db.run(sql`DELETE FROM sign_in_record WHERE created_at < ${new Date(now.getTime() - KEPT_MS)}`)
}
