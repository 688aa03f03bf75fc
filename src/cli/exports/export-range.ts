// One export over a range, now and to its end: a backfill worked off in this process. `export`, `demo` and `bench` do it.
import { setTimeout as sleep } from 'node:timers/promises'
import { createBackfill } from '../../features/batch-exports/backfills/create.ts'
import { estimateBackfill } from '../../features/batch-exports/backfills/estimate.ts'
import { ExportEngine } from '../../features/batch-exports/engine/engine.ts'
import type { BackfillRow, ExportRow, RunRow } from '../../features/batch-exports/rows.ts'
import { BACKFILL_COLUMNS, RUN_COLUMNS } from '../../features/batch-exports/runs/columns.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Services } from '../../platform/services.ts'

const LOOK_EVERY_MS = 100

export type Exported = { backfill: BackfillRow; runs: RunRow[] }

/** What is done so far; `total_rows` counts the runs that have begun. */
export type ExportProgress = { runs: number; total_runs: number; rows: number; bytes: number }

export async function exportRange(
  services: Services,
  row: ExportRow,
  range: { start_at: Date | null; end_at: Date },
  signal: AbortSignal,
  onProgress: (progress: ExportProgress) => void,
): Promise<Exported> {
  const { db } = services
  const now = services.now()
  const estimate = await estimateBackfill(services, row, range, now)
  const { backfill_id } = await db.transaction((tx) => createBackfill(tx, row, range, estimate, now))
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
      const { backfill, runs } = await standing(services, row.project_id, backfill_id)
      const ended = runs.filter(({ finished_at }) => finished_at !== null).length
      onProgress({ runs: ended, total_runs: backfill.total_runs, ...written })
      if (backfill.finished_at !== null || signal.aborted) return { backfill, runs }
      await sleep(LOOK_EVERY_MS)
    }
  } finally {
    await engine.close()
  }
}

async function standing({ db }: Services, project_id: number, id: string): Promise<Exported> {
  const backfill = await db.only<BackfillRow>(sql`
    SELECT ${BACKFILL_COLUMNS} FROM batch_export_backfill WHERE project_id = ${project_id} AND id = ${id}`)
  const runs = await db.rows<RunRow>(sql`
    SELECT ${RUN_COLUMNS} FROM batch_export_run WHERE project_id = ${project_id} AND backfill_id = ${id}
    ORDER BY data_interval_end`)
  return { backfill, runs }
}
