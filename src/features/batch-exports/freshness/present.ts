// Figures of freshness → their JSON in the API.
import type { Services } from '../../../platform/services.ts'
import { shownType } from '../rows.ts'
import { measureFreshness, type Figures } from './measure.ts'
import type { WatchedExport } from './queries.ts'
import type { RecentRunRow } from './recent-runs.ts'
import type { ExportStatus, Freshness, RecentRun } from './schema.ts'

/** Exports as they are shown, each with its freshness added. */
export async function withFreshness<Shown>(
  { services, now }: { services: Services; now: Date },
  rows: readonly WatchedExport[],
  shown: readonly Shown[],
): Promise<(Shown & { freshness: Freshness })[]> {
  const figures = await measureFreshness(services, rows, now)
  return shown.map((each, index) => ({
    ...each,
    freshness: presentFreshness(figures.get(rows[index]!.id)!, now),
  }))
}

function presentFreshness(figures: Figures, now: Date): Freshness {
  const { last_run, last_verification } = figures
  return {
    newest_delivered_at: text(figures.newest_delivered_at),
    newest_delivered_age_s: ageInSeconds(figures.newest_delivered_at, now),
    oldest_pending_at: text(figures.oldest_pending_at),
    oldest_pending_age_s: ageInSeconds(figures.oldest_pending_at, now),
    rows_behind: figures.rows_behind,
    runs_behind: figures.runs_behind,
    live_runs: figures.live_runs,
    last_run: last_run && { ...last_run, finished_at: text(dateOf(last_run.finished_at)) },
    last_completed_at: text(figures.last_completed_at),
    next_run_at: text(figures.next_run_at),
    expected_end_at: text(figures.expected_end_at),
    is_late: figures.is_late,
    last_verification: last_verification && {
      ...last_verification,
      created_at: new Date(last_verification.created_at).toISOString(),
    },
  }
}

export function presentStatus(
  row: WatchedExport,
  figures: Figures,
  now: Date,
): Omit<ExportStatus, 'recent_runs'> {
  const { id, name, paused, model, interval } = row
  const destination_type = shownType(row)
  return { id, name, paused, destination_type, model, interval, ...presentFreshness(figures, now) }
}

export function presentRecentRun(row: RecentRunRow): RecentRun {
  const { id, status, data_interval_start, data_interval_end, backfill_id } = row
  return {
    id,
    status,
    data_interval_start: text(data_interval_start),
    data_interval_end: data_interval_end.toISOString(),
    rows: row.finished_at === null ? row.records_total_count : row.records_completed,
    backfill: backfill_id,
  }
}

/** Null without an instant; 0 for one that lies ahead because the clock was set back. */
export function ageInSeconds(instant: Date | null, now: Date): number | null {
  return instant && Math.max(0, Math.floor((now.getTime() - instant.getTime()) / 1000))
}

/** Reads an instant as PostgreSQL writes it in JSON. */
function dateOf(written: string | null): Date | null {
  return written === null ? null : new Date(written)
}

function text(instant: Date | null): string | null {
  return instant?.toISOString() ?? null
}
