// Idempotency-Key on POST: the claim, the change and its answer are one transaction, so a repeat after any crash or lost
// answer finds either all of it or nothing.
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Services } from '../services.ts'
import type { Outgoing } from './dispatch.ts'
import { ApiError, invalid } from './errors.ts'

const LIFETIME_MS = 24 * 60 * 60 * 1000
const MAX_KEY_LENGTH = 255

type IdempotentRequest = {
  key: string
  caller: string
  path: string
  /** The cookie as sent: what a pending sign-in opened is repeated to that sign-in alone. */
  session_token: string | null
  bytes: Buffer
  now: Date
}

type StoredAnswer = { request_hash: string; sealed_answer: string }

/** `prepare` finds and checks what the request is about, before any transaction; what it returns does the work in one. */
export async function answerOnce(
  services: Services,
  request: IdempotentRequest,
  prepare: () => Promise<(db: Db) => Promise<Outgoing>>,
): Promise<Outgoing> {
  assertUsableKey(request.key)
  let perform: (db: Db) => Promise<Outgoing>
  try {
    perform = await prepare()
  } catch (refusal) {
    // What the first request did may be why its repeat is refused: then the answer of the first counts.
    const answer = await findAnswer(services.db, services, request)
    if (answer) return answer
    throw refusal
  }
  return services.db.transaction(async (tx) => {
    if (!(await claim(tx, services, request))) return (await findAnswer(tx, services, request))!
    const answer = await perform(tx)
    // A refusal that is answered rather than thrown keeps what it wrote, such as a counted failure, and can be retried.
    if (answer.status >= 400) await releaseClaim(tx, request)
    else await storeAnswer(tx, services, request, answer)
    return answer
  })
}

/** Timetable entry: answers older than a day are forgotten. */
export async function forgetOldAnswers(db: Db, now: Date): Promise<number> {
  return db.run(sql`DELETE FROM idempotency_key WHERE created_at <= ${oldestKept(now)}`)
}

function assertUsableKey(key: string): void {
  if (key.trim() !== '' && key.length <= MAX_KEY_LENGTH) return
  throw invalid(null, 'invalid_input', `Idempotency-Key takes 1 to ${MAX_KEY_LENGTH} characters.`)
}

/** False when the key is taken; whoever comes second waits here until the first has committed or rolled back. */
async function claim(tx: Db, services: Services, request: IdempotentRequest): Promise<boolean> {
  const { caller, key, now } = request
  // Keyed, because the body may hold a password that a plain hash would let somebody guess at.
  const hash = services.secrets.fingerprint('idempotency', ...identityOf(request))
  await tx.run(sql`
    DELETE FROM idempotency_key WHERE caller = ${caller} AND key = ${key} AND created_at <= ${oldestKept(now)}`)
  const claimed = await tx.run(sql`
    INSERT INTO idempotency_key (caller, key, request_hash, created_at) VALUES (${caller}, ${key}, ${hash}, ${now})
    ON CONFLICT DO NOTHING`)
  return claimed > 0
}

async function findAnswer(db: Db, services: Services, request: IdempotentRequest): Promise<Outgoing | null> {
  const { caller, key, now } = request
  const stored = await db.row<StoredAnswer>(sql`
    SELECT request_hash, sealed_answer FROM idempotency_key
    WHERE caller = ${caller} AND key = ${key} AND created_at > ${oldestKept(now)}`)
  if (!stored) return null
  if (!services.secrets.matches(stored.request_hash, 'idempotency', ...identityOf(request))) {
    throw new ApiError('idempotency_mismatch', 'This Idempotency-Key was used with another path or body.')
  }
  return JSON.parse(services.secrets.open(stored.sealed_answer, placeOf(request))) as Outgoing
}

/** Sealed, because an answer may hold a new key's value or open a session. */
async function storeAnswer(
  tx: Db,
  services: Services,
  request: IdempotentRequest,
  answer: Outgoing,
): Promise<void> {
  const sealed = services.secrets.seal(JSON.stringify(answer), placeOf(request))
  await tx.run(sql`
    UPDATE idempotency_key SET sealed_answer = ${sealed} WHERE caller = ${request.caller} AND key = ${request.key}`)
}

async function releaseClaim(tx: Db, { caller, key }: IdempotentRequest): Promise<void> {
  await tx.run(sql`DELETE FROM idempotency_key WHERE caller = ${caller} AND key = ${key}`)
}

/** What makes two requests the same one. */
function identityOf({ path, session_token, bytes }: IdempotentRequest): (string | Buffer)[] {
  return [path, session_token ?? '', bytes]
}

function placeOf({ caller, key }: IdempotentRequest) {
  return { table: 'idempotency_key', row: `${caller} ${key}`, column: 'sealed_answer' }
}

function oldestKept(now: Date): Date {
  return new Date(now.getTime() - LIFETIME_MS)
}
