// What somebody asks to have verified, and the verification that comes of it.
import { isUuid } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { ApiError, invalid } from '../../../platform/http/errors.ts'
import { lockExport } from '../queries.ts'
import type { ExportRow } from '../rows.ts'
import { countLiveRequests, hasRun, hastenLive, insertVerification, type Owner } from './queries.ts'
import type { Subject, VerificationRow } from './rows.ts'
import type { VerifyRequest } from './schema.ts'

/** In a project: one is worked on at a time, and all of them cost the destinations something. */
const MAX_LIVE_REQUESTS = 20
const TRY_AGAIN_S = 60

export async function readSubject(
  db: Db,
  row: ExportRow,
  { run, start_at = null, end_at = null }: VerifyRequest,
  now: Date,
): Promise<Subject> {
  if (end_at && end_at > now) {
    throw invalid('end_at', 'invalid_input', `end_at lies in the future: it is ${now.toISOString()} now.`)
  }
  if (start_at && start_at >= (end_at ?? now)) {
    throw invalid('start_at', 'invalid_input', `start_at must lie before ${end_at ? 'end_at' : 'now'}.`)
  }
  if (run === null || run === undefined) return { run_id: null, start_at, end_at }
  if (start_at || end_at) throw invalid('run', 'invalid_input', 'Give a run, or a range, not both.')
  if (!isUuid(run) || !(await hasRun(db, row, run))) {
    throw invalid('run', 'does_not_exist', 'The export has no such run: see its list of runs.')
  }
  return { run_id: run, start_at, end_at }
}

/** Gives the live one when the same was asked for already. */
export async function requestVerification(
  tx: Db,
  row: ExportRow,
  subject: Subject,
  now: Date,
): Promise<VerificationRow> {
  await lockExport(tx, row.project_id, row.id)
  const live = await hastenLive(tx, row, subject, now)
  if (live) return live
  await assertRoom(tx, row.project_id)
  return enqueueRequest(tx, row, subject, now)
}

/** The same for whoever runs the server: without a limit. */
export async function enqueueRequest(
  db: Db,
  owner: Owner,
  subject: Subject,
  now: Date,
): Promise<VerificationRow> {
  for (;;) {
    const made = await insertVerification(db, owner, { ...subject, trigger: 'request' }, now)
    // The timetable, or a run, may have asked for the same; and it may have ended since.
    const row = made ?? (await hastenLive(db, owner, subject, now))
    if (row) return row
  }
}

async function assertRoom(tx: Db, project_id: number): Promise<void> {
  if ((await countLiveRequests(tx, project_id)) < MAX_LIVE_REQUESTS) return
  throw new ApiError(
    'too_many_concurrent_verifications',
    `The project has ${MAX_LIVE_REQUESTS} verifications waiting: wait for one to end.`,
    null,
    { 'retry-after': String(TRY_AGAIN_S) },
  )
}
