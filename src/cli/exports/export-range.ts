// One export over a range, now and to its end: a backfill worked off in this process (`export`, `demo` and `bench` do it),
// or by the server that is running.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  findAskedBackfill,
  findRefusal,
  PATIENCE_MS,
  startAskedBackfill,
} from '../../features/batch-exports/backfills/asked.ts'
import { assertRoomForBackfill, createBackfill } from '../../features/batch-exports/backfills/create.ts'
import { estimateBackfill } from '../../features/batch-exports/backfills/estimate.ts'
import { ExportEngine } from '../../features/batch-exports/engine/engine.ts'
import type { BackfillRow, ExportRow, RunRow } from '../../features/batch-exports/rows.ts'
import { BACKFILL_COLUMNS, RUN_COLUMNS } from '../../features/batch-exports/runs/columns.ts'
import type { Database, Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { openJobs } from '../../platform/jobs/jobs.ts'
import { openLog } from '../../platform/log/log.ts'
import type { Services } from '../../platform/services.ts'
import { UserError } from '../command.ts'

const LOOK_EVERY_MS = 100

export type Exported = { backfill: BackfillRow; runs: RunRow[] }

/** What is done so far; `total_rows` counts the runs that have begun. */
export type ExportProgress = { runs: number; total_runs: number; rows: number; bytes: number }

export type Range = { start_at: Date | null; end_at: Date }

export async function exportRange(
  services: Services,
  row: ExportRow,
  range: Range,
  signal: AbortSignal,
  onProgress: (progress: ExportProgress) => void,
): Promise<Exported> {
  const backfill_id = await beginExport(services, row, range)
  return workOff(services, row, backfill_id, signal, onProgress)
}

/** What there is to export is counted first. */
export async function beginExport(services: Services, row: ExportRow, range: Range): Promise<string> {
  const now = services.now()
  const estimate = await estimateBackfill(services, row, range, now)
  const { backfill_id } = await services.db.transaction((tx) => createBackfill(tx, row, range, estimate, now))
  return backfill_id
}

/** Every run of it, in this process. */
export async function workOff(
  services: Services,
  row: ExportRow,
  backfill_id: string,
  signal: AbortSignal,
  onProgress: (progress: ExportProgress) => void,
): Promise<Exported> {
  const { db } = services
  const written = { rows: 0, bytes: 0 }
  const engine = new ExportEngine(services, {
    backfill_id,
    onProgress({ rows, bytes }) {
      written.rows += rows
      written.bytes += bytes
    },
  })
  try {
    for (;;) {
      await engine.tick()
      await engine.beat()
      const exported = await standing(db, row.project_id, backfill_id)
      onProgress({ ...runsOf(exported), ...written })
      if (exported.backfill.finished_at !== null || signal.aborted) return exported
      await sleep(LOOK_EVERY_MS)
    }
  } finally {
    await engine.close()
  }
}

/** The same by the server that is running: it has the events, and everybody sees how far it has got. */
export async function exportByServer(
  db: Database,
  row: ExportRow,
  range: Range,
  signal: AbortSignal,
  onProgress: (progress: ExportProgress) => void,
): Promise<Exported> {
  const backfill_id = await askServer(db, row, range)
  for (;;) {
    const exported = await standing(db, row.project_id, backfill_id)
    onProgress({ ...runsOf(exported), ...deliveredBy(exported.runs) })
    if (exported.backfill.finished_at !== null) return exported
    if (signal.aborted) throw new UserError('stopped watching: the server goes on with the export')
    await sleep(LOOK_EVERY_MS)
  }
}

/** The backfill that it begins. */
async function askServer(db: Database, row: ExportRow, range: Range): Promise<string> {
  await assertRoomForBackfill(db, row.project_id)
  const asked = {
    project_id: row.project_id,
    batch_export_id: row.id,
    start_at: range.start_at?.toISOString() ?? null,
    end_at: range.end_at.toISOString(),
    asked_at: new Date().toISOString(),
  }
  const queue = await openJobs(db, [], openLog({ level: 'warn', format: 'json', to: process.stderr }))
  await db.transaction((tx) => queue.enqueue(tx, startAskedBackfill, asked))
  await queue.stop()
  for (let waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms += LOOK_EVERY_MS) {
    const begun = await findAskedBackfill(db, asked)
    if (begun) return begun.id
    const refusal = await findRefusal(db, asked)
    if (refusal !== null) throw new UserError(refusal)
    await sleep(LOOK_EVERY_MS)
  }
  throw new UserError('the running server did not start the export within a minute: see its log')
}

/** Figures of the runs that have completed. */
export function deliveredBy(runs: readonly RunRow[]): { rows: number; bytes: number } {
  const completed = runs.filter(({ status }) => status === 'Completed')
  return {
    rows: completed.reduce((sum, run) => sum + run.records_completed!, 0),
    bytes: completed.reduce((sum, run) => sum + run.bytes_exported!, 0),
  }
}

function runsOf({ backfill, runs }: Exported): { runs: number; total_runs: number } {
  return {
    runs: runs.filter(({ finished_at }) => finished_at !== null).length,
    total_runs: backfill.total_runs,
  }
}

async function standing(db: Db, project_id: number, id: string): Promise<Exported> {
  const backfill = await db.only<BackfillRow>(sql`
    SELECT ${BACKFILL_COLUMNS} FROM batch_export_backfill WHERE project_id = ${project_id} AND id = ${id}`)
  const runs = await db.rows<RunRow>(sql`
    SELECT ${RUN_COLUMNS} FROM batch_export_run WHERE project_id = ${project_id} AND backfill_id = ${id}
    ORDER BY data_interval_end`)
  return { backfill, runs }
}
