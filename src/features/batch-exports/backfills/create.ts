// What becomes of a request to deliver something again, or at last: a backfill with its first runs. Called by the routes
// and the command line, in a transaction that holds the export's row.
import type { Db } from '../../../platform/db/database.ts'
import { ApiError, invalid } from '../../../platform/http/errors.ts'
import { writeLog } from '../logs/write.ts'
import type { BackfillRow, ExportRow } from '../rows.ts'
import { standings } from '../schedule/queries.ts'
import type { Estimate } from './estimate.ts'
import { MAX_RUNS, NOTHING, planBackfill, planUnpause, type BackfillRange, type Plan } from './plan.ts'
import {
  countLiveBackfills,
  findSameBackfill,
  insertBackfill,
  listDelivered,
  lockBackfills,
} from './queries.ts'
import { advanceBackfill } from './advance.ts'

const MAX_LIVE_BACKFILLS = 10
/** When one of them ends is not known; some do within a minute. */
const TRY_AGAIN_S = 60

type Wanted = Pick<
  BackfillRow,
  'kind' | 'start_at' | 'end_at' | 'seq_to' | 'queue' | 'rows_to_deliver' | 'rows_delivered_before'
> &
  ReturnType<typeof planBackfill>

/** What the export has not delivered of a range. */
export function createBackfill(
  tx: Db,
  row: ExportRow,
  range: BackfillRange,
  estimate: Estimate,
  now: Date,
): Promise<{ backfill_id: string }> {
  const { seq_to, rows, delivered_before, span, unfinished } = estimate
  const plan = rows === 0 ? NOTHING : planBackfill(row, range, span, now)
  assertFewRuns(plan, 'start_at', 'Give a later start_at or an earlier end_at.')
  return create(
    tx,
    row,
    {
      kind: 'backfill',
      ...range,
      ...plan,
      seq_to,
      queue: unfinished,
      total_runs: plan.total_runs + unfinished.length,
      rows_to_deliver: rows,
      rows_delivered_before: delivered_before,
    },
    now,
  )
}

function assertFewRuns({ total_runs, next_end_at }: Plan, attr: string, what_to_do: string): void {
  if (total_runs <= MAX_RUNS) return
  const first = next_end_at!.toISOString()
  throw invalid(
    attr,
    'invalid_input',
    `The backfill would have ${total_runs} intervals, the first until ${first}; at most ${MAX_RUNS} are possible. ${what_to_do}`,
  )
}

/** What arrived during a pause, in the intervals that it arrived in. */
export async function createUnpause(
  tx: Db,
  row: ExportRow,
  paused_at: Date,
  now: Date,
): Promise<{ backfill_id: string }> {
  const standing = (await standings(tx, [row.id])).get(row.id)!
  const plan = planUnpause(row, paused_at, standing.covered_until, now)
  assertFewRuns(plan, 'backfill', 'Unpause it without a backfill, then ask for one of a later time.')
  const range = { start_at: paused_at, end_at: now }
  const counts = { rows_to_deliver: null, rows_delivered_before: null }
  return create(tx, row, { kind: 'unpause', ...range, ...plan, seq_to: 0, queue: [], ...counts }, now)
}

/** What the export has delivered in the intervals of a range, again and as it was. */
export async function createRepair(
  tx: Db,
  row: ExportRow,
  range: BackfillRange,
  now: Date,
): Promise<{ backfill_id: string }> {
  const delivered = await listDelivered(tx, row, range)
  const rows = delivered.reduce((sum, { records_completed }) => sum + records_completed, 0)
  return create(
    tx,
    row,
    {
      kind: 'repair',
      ...range,
      ...NOTHING,
      seq_to: 0,
      queue: delivered.map(({ run_id }) => run_id),
      total_runs: delivered.length,
      rows_to_deliver: rows,
      rows_delivered_before: rows,
    },
    now,
  )
}

/** Gives the live one when the same was asked for already. */
async function create(tx: Db, row: ExportRow, wanted: Wanted, now: Date): Promise<{ backfill_id: string }> {
  const { project_id, id: batch_export_id } = row
  await lockBackfills(tx, project_id)
  const same = await findSameBackfill(tx, row, wanted)
  if (same) return { backfill_id: same.id }
  await assertRoomForBackfill(tx, project_id)
  const fields = { project_id, batch_export_id, ...wanted, retry_of: null, status: 'Starting' } as const
  const backfill_id = await insertBackfill(tx, fields, now)
  if (wanted.total_runs === 0) {
    await writeLog(tx, { project_id, batch_export_id, run_id: null }, 'INFO', nothingToDo(wanted), now)
  }
  // Its first runs, or its end when there is nothing to do.
  await advanceBackfill(tx, backfill_id, now)
  return { backfill_id }
}

const WORDS = { backfill: 'deliver', unpause: 'make up for', repair: 'repair', retry: 'repeat' } as const

function nothingToDo({ kind, start_at, end_at, rows_delivered_before }: Wanted): string {
  const range = `${start_at?.toISOString() ?? 'the beginning'} to ${end_at?.toISOString() ?? 'now'}`
  const before = rows_delivered_before ? ` ${rows_delivered_before} rows of it were delivered before.` : ''
  return `Nothing to ${WORDS[kind]} from ${range}.${before}`
}

export async function assertRoomForBackfill(tx: Db, project_id: number): Promise<void> {
  if ((await countLiveBackfills(tx, project_id)) < MAX_LIVE_BACKFILLS) return
  throw new ApiError(
    'too_many_concurrent_backfills',
    `The project has ${MAX_LIVE_BACKFILLS} backfills running: wait for one to end, or cancel it.`,
    null,
    { 'retry-after': String(TRY_AGAIN_S) },
  )
}
