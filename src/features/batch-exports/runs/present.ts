// A run's row → its JSON in the API, for the runs themselves and for `latest_runs` of an export.
import type { z } from 'zod'
import type { Db } from '../../../platform/db/database.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import type { RunRow } from '../rows.ts'
import { findObstacles } from './read-queries.ts'
import type { Run } from './schema.ts'
import { waitingOf, type Waiting } from './waiting.ts'

type Presented = z.input<typeof Run>

export async function presentRun(db: Db, row: RunRow, now: Date): Promise<Presented> {
  return (await runPresenter(db, [row], now))(row)
}

/** For each of these rows; what they wait for is asked once for all. */
export async function runPresenter(
  db: Db,
  rows: readonly RunRow[],
  now: Date,
): Promise<(row: RunRow) => Presented> {
  const obstacles = await findObstacles(db, rows)
  return (row) => present(row, waitingOf(row, obstacles.get(row.id), now))
}

function present(row: RunRow, { waiting_for, waiting_since }: Waiting): Presented {
  return {
    id: row.id,
    status: row.status,
    records_completed: row.records_completed,
    records_total_count: row.records_total_count,
    records_failed: row.records_failed,
    bytes_exported: row.bytes_exported,
    latest_error: row.latest_error,
    data_interval_start: row.data_interval_start?.toISOString() ?? null,
    data_interval_end: row.data_interval_end.toISOString(),
    cursor: null,
    attempts: row.attempt,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    last_updated_at: row.last_updated_at.toISOString(),
    batch_export: row.batch_export_id,
    backfill: row.backfill_id,
    files: row.files,
    table: tableOf(row),
    waiting_for,
    waiting_since: waiting_since?.toISOString() ?? null,
  }
}

/** The export may have another one by now: a run keeps the one it began with. */
function tableOf({ definition }: RunRow): string | null {
  const kind = definition && DESTINATIONS.get(definition.destination_type)
  return kind?.table?.(definition!.config) ?? null
}
