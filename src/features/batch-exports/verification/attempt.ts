// An attempt at a verification, from claim to end.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from '../../../platform/db/sql.ts'
import { StoreGone } from '../../../platform/event-store/event-store.ts'
import type { Services } from '../../../platform/services.ts'
import { redactorOfExport } from '../engine/redactor-of-export.ts'
import type { ExportRow } from '../rows.ts'
import type { Findings } from './findings.ts'
import { endVerification, returnVerification, type Lease, type Result } from './queries.ts'
import type { PlaceReader } from './reader/destination-reader.ts'
import type { VerificationRow } from './rows.ts'
import { verify } from './verify.ts'

const MAX_ATTEMPTS = 3
const TRY_AGAIN_MS = 60_000
const WORKERS_LOST = `The worker process was lost ${MAX_ATTEMPTS} times during this verification; giving up.`
const OURS =
  'Something went wrong on our side. The log of the server says more; the next daily verification tries again.'

/** Why a verification is stopped from outside: the reason of its signal. */
export class Stopped extends Error {
  constructor(readonly why: 'lost' | 'closing') {
    super(why)
  }
}

export type Attempt = {
  services: Services
  verification: VerificationRow
  lease: Lease
  reader: PlaceReader
  findings: Findings
  signal: AbortSignal
  giveWay(signal: AbortSignal): Promise<void>
}

/** Never throws. Gives the result when it has ended the verification. */
export async function attemptVerification(attempt: Attempt): Promise<Result | null> {
  const { services, verification, findings } = attempt
  try {
    if (verification.attempt > MAX_ATTEMPTS) return await fail(attempt, WORKERS_LOST)
    const row = await findExport(services, verification)
    if (row) await verifyInFolder(attempt, row)
    // What was stopped has not been out of reach.
    attempt.signal.throwIfAborted()
    return await end(attempt, findings.result)
  } catch (error) {
    return answer(attempt, error).catch((fault: unknown) => {
      // Whoever finds the lease run out takes it over.
      services.log.error(
        { err: fault, verification_id: verification.id },
        'the end of a verification could not be recorded',
      )
      return null
    })
  }
}

/** Undefined when it was deleted meanwhile. */
function findExport(
  { db }: Services,
  { project_id, batch_export_id }: VerificationRow,
): Promise<ExportRow | undefined> {
  return db.row(sql`
    SELECT * FROM batch_export WHERE project_id = ${project_id} AND id = ${batch_export_id} AND deleted_at IS NULL`)
}

async function verifyInFolder(attempt: Attempt, row: ExportRow) {
  const { services, verification, reader, findings, signal } = attempt
  const folder = join(services.settings.scratch_folder, verification.id)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    const giveWay = () => attempt.giveWay(signal)
    await verify({ services, row, subject: verification, findings, reader, folder, signal, giveWay })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function answer(attempt: Attempt, error: unknown): Promise<Result | null> {
  const { services, verification, lease, signal } = attempt
  const { db, log } = services
  const now = services.now()
  if (signal.reason instanceof Stopped) {
    if (signal.reason.why === 'closing')
      await returnVerification(db, lease, { run_after: now, is_attempt: false })
    return null
  }
  if (error instanceof StoreGone) return null
  const row = await findExport(services, verification)
  const err = row ? redactorOfExport(services, row).cleanError(error) : error
  log.error({ err, verification_id: verification.id }, 'a verification failed on our side')
  if (verification.attempt >= MAX_ATTEMPTS) return fail(attempt, OURS)
  const run_after = new Date(now.getTime() + TRY_AGAIN_MS)
  await returnVerification(db, lease, { run_after, is_attempt: true })
  return null
}

function fail(attempt: Attempt, why: string): Promise<Result | null> {
  attempt.findings.note(why)
  return end(attempt, { ...attempt.findings.result, status: 'Failed', verdict: null })
}

async function end({ services, lease }: Attempt, result: Result): Promise<Result | null> {
  return (await endVerification(services.db, lease, result, services.now())) ? result : null
}
