// What an export has behind it, as far as the ledger knows: runs of the schedule, each over one of the first events, and
// backfills, each of a minute and of what had arrived by then. A later run has to leave all of it out.
import { claimAreas } from '../../../src/features/batch-exports/ledger/claim.ts'
import type { ExportRow, RunRow } from '../../../src/features/batch-exports/rows.ts'
import { insertRuns, type NewRun } from '../../../src/features/batch-exports/schedule/new-runs.ts'
import { EVERY_ROW, selectEvents } from '../../../src/features/batch-exports/source/select.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import type { Area } from '../../../src/platform/event-store/export-rows.ts'
import type { Services } from '../../../src/platform/services.ts'
import type { SampleStore } from './sample-store.ts'

export type Past = { runs: number; backfills: number }

const MINUTE_MS = 60_000

/** How many events it took. */
export async function addPast(
  services: Services,
  row: ExportRow,
  store: SampleStore,
  past: Past,
): Promise<number> {
  const { db, eventStore } = services
  const taken: Area[] = []
  for (const candidate of [...earlierRuns(past), ...earlierBackfills(store, past)]) {
    taken.push(...(await claim(services, row, candidate)))
  }
  await db.run(sql`
    UPDATE batch_export_run SET status = 'Completed', finished_at = created_at, records_completed = 1, is_delivered = true
    WHERE batch_export_id = ${row.id}`)
  const project = { id: row.project_id, timezone: 'UTC', engine: eventStore.engine }
  const every = selectEvents(project, EVERY_ROW, services.now())
  const measured = await eventStore.measureAreas(every, taken, new AbortController().signal)
  return measured.reduce((sum, { rows }) => sum + rows, 0)
}

function earlierRuns({ runs }: Past): Area[] {
  return Array.from({ length: runs }, (_, index) => ({
    seq_from: index,
    seq_to: index + 1,
    time_from: null,
    time_to: null,
  }))
}

function earlierBackfills({ start_at, end_at, events }: SampleStore, { backfills }: Past): Area[] {
  const [start_ms, end_ms] = [Date.parse(start_at), Date.parse(end_at)]
  return Array.from({ length: backfills }, (_, index) => {
    const part = (index + 1) / (backfills + 1)
    const time_from = new Date(start_ms + part * (end_ms - start_ms))
    const time_to = new Date(time_from.getTime() + MINUTE_MS)
    return { seq_from: 0, seq_to: Math.floor(part * events), time_from, time_to }
  })
}

async function claim({ db, now }: Services, row: ExportRow, area: Area): Promise<Area[]> {
  const { seq_from, seq_to, time_from, time_to } = area
  const { project_id, id: batch_export_id } = row
  const interval = { start: time_from, end: time_to ?? new Date(seq_to * MINUTE_MS) }
  const selection: NewRun['selection'] = time_from === null ? 'arrival' : 'timestamp'
  const run = { project_id, batch_export_id, backfill_id: null, interval, selection, seq_from, seq_to }
  return db.transaction(async (tx) => {
    await insertRuns(tx, [{ ...run, run_after: now() }], now())
    const made = await tx.only<RunRow>(sql`
      SELECT * FROM batch_export_run WHERE batch_export_id = ${batch_export_id} ORDER BY id DESC LIMIT 1`)
    return claimAreas(tx, made, area, [])
  })
}
