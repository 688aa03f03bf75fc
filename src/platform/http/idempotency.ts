// Idempotency-Key on POST: the claim, the change and its answer are one transaction, so a repeat after any crash or lost
// answer finds either all of it or nothing.
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Services } from '../services.ts'
import type { Outgoing } from './dispatch.ts'
import { ApiError, invalid } from './errors.ts'

const LIFETIME_MS = 24 * 60 * 60 * 1000
const MAX_KEY_LENGTH = 255

type IdempotentRequest = { key: string; caller: string; path: string; bytes: Buffer | null; now: Date }

export async function answerOnce(
  services: Services,
  request: IdempotentRequest,
  perform: (db: Db) => Promise<Outgoing>,
): Promise<Outgoing> {
  const { key, caller, now } = request
  if (key === '' || key.length > MAX_KEY_LENGTH) {
    throw invalid(null, 'invalid_input', `Idempotency-Key takes 1 to ${MAX_KEY_LENGTH} characters.`)
  }
  // Keyed, because the body may hold a password that a plain hash would let somebody guess at.
  const requestHash = services.secrets.fingerprint('idempotency', `${request.path}\n`, request.bytes ?? '')
  const seal = { table: 'idempotency_key', row: `${caller} ${key}`, column: 'sealed_answer' }
  return services.db.transaction(async (tx) => {
    await tx.run(sql`DELETE FROM idempotency_key WHERE caller = ${caller} AND key = ${key} AND created_at <= ${new Date(now.getTime() - LIFETIME_MS)}`)
    // A second request with the same key waits here until the first has committed or rolled back.
    const claimed = await tx.run(sql`
      INSERT INTO idempotency_key (caller, key, request_hash, created_at) VALUES (${caller}, ${key}, ${requestHash}, ${now})
      ON CONFLICT DO NOTHING`)
    if (claimed === 0) return repeated(services, await findAnswer(tx, caller, key), requestHash, seal)
    const answer = await perform(tx)
    await tx.run(sql`UPDATE idempotency_key SET sealed_answer = ${services.secrets.seal(JSON.stringify(answer), seal)} WHERE caller = ${caller} AND key = ${key}`)
    return answer
  })
}

/** Timetable entry: answers older than a day are forgotten. */
export async function forgetOldAnswers(db: Db, now: Date): Promise<number> {
  return db.run(sql`DELETE FROM idempotency_key WHERE created_at <= ${new Date(now.getTime() - LIFETIME_MS)}`)
}

type StoredAnswer = { request_hash: string; sealed_answer: string }

function findAnswer(tx: Db, caller: string, key: string): Promise<StoredAnswer> {
  return tx.only(sql`SELECT request_hash, sealed_answer FROM idempotency_key WHERE caller = ${caller} AND key = ${key}`)
}

function repeated(
  services: Services,
  stored: StoredAnswer,
  requestHash: string,
  seal: { table: string; row: string; column: string },
): Outgoing {
  if (stored.request_hash !== requestHash) {
    throw new ApiError('idempotency_mismatch', 'This Idempotency-Key was used with another path or body.')
  }
  return JSON.parse(services.secrets.open(stored.sealed_answer, seal)) as Outgoing
}
