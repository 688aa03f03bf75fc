// Row and newest runs → BatchExport of the API.
import type { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { listLatestRuns } from './queries.ts'
import { shownType, type ExportRow } from './rows.ts'
import { runPresenter } from './runs/present.ts'
import type { BatchExport } from './schema.ts'

type Presented = z.input<typeof BatchExport>
type PresentedRun = Presented['latest_runs'][number]

export async function presentExports(db: Db, rows: readonly ExportRow[], now: Date): Promise<Presented[]> {
  const latest = await listLatestRuns(db, rows)
  const presentRun = await runPresenter(db, latest, now)
  const runsOf = new Map(rows.map((row) => [row.id, [] as PresentedRun[]]))
  for (const run of latest) runsOf.get(run.batch_export_id)!.push(presentRun(run))
  return rows.map((row) => presentExport(row, runsOf.get(row.id)!))
}

export async function presentWithRuns(db: Db, row: ExportRow, now: Date): Promise<Presented> {
  const [presented] = await presentExports(db, [row], now)
  return presented!
}

function presentExport(row: ExportRow, latest_runs: PresentedRun[]): Presented {
  return {
    id: row.id,
    team_id: row.project_id,
    name: row.name,
    destination: { type: shownType(row), config: row.config, integration: null },
    model: row.model,
    interval: row.interval,
    timezone: row.timezone,
    offset_day: row.offset_day,
    offset_hour: row.offset_hour,
    paused: row.paused,
    created_at: row.created_at.toISOString(),
    last_updated_at: row.last_updated_at.toISOString(),
    last_paused_at: row.last_paused_at?.toISOString() ?? null,
    start_at: row.start_at?.toISOString() ?? null,
    end_at: row.end_at?.toISOString() ?? null,
    latest_runs,
    hogql_query: row.hogql_query,
    schema: row.schema,
    filters: row.filters,
  }
}
