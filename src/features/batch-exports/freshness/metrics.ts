// Exports in `/metrics`: what this process has done with runs, how many there are, and how fresh each export is. Exports go
// by their ids: names are their owners'.
import { keptFor } from '../../../lib/kept-for.ts'
import type { Metrics } from '../../../platform/http/metrics.ts'
import type { Services } from '../../../platform/services.ts'
import type { RunTally } from '../engine/tally.ts'
import { measureFreshness, type Figures } from './measure.ts'
import { ageInSeconds } from './present.ts'
import { countLiveRuns, listWatched, type WatchedExport } from './queries.ts'

/** One reading serves all figures of a scrape, and all scrapes of the next seconds. */
const KEPT_MS = 10_000

type Measured = { row: WatchedExport; figures: Figures; now: Date }

export function addExportMetrics(
  metrics: Metrics,
  services: Pick<Services, 'db' | 'eventStore' | 'now'>,
  tally: RunTally,
): void {
  addCounts(metrics, tally)
  metrics.gauge(
    'longshore_export_runs',
    'Export runs that have not ended, by state.',
    () => countLiveRuns(services.db),
    'state',
  )
  const read = keptFor(
    KEPT_MS,
    () => services.now(),
    () => measureAll(services),
  )
  for (const [name, { help, of }] of Object.entries(OF_EACH)) {
    metrics.gauge(`longshore_export_${name}`, help, async () => figuresById(await read(), of), 'export_id')
  }
}

function addCounts(metrics: Metrics, tally: RunTally): void {
  const worked = 'since this process started'
  metrics.counter(
    'longshore_export_runs_total',
    `Export runs that were worked on and have ended ${worked}, by status.`,
    () => tally.runs,
    'status',
  )
  metrics.counter(
    'longshore_export_attempts_total',
    `Attempts at export runs ${worked}, by outcome.`,
    () => tally.attempts,
    'outcome',
  )
  metrics.counter('longshore_export_rows_total', `Rows delivered ${worked}.`, () => tally.rows)
  metrics.counter('longshore_export_bytes_total', `Bytes delivered ${worked}.`, () => tally.bytes)
}

type OfEach = { help: string; of(measured: Measured): number | null }

const OF_EACH: Record<string, OfEach> = {
  newest_delivered_age_seconds: {
    help: 'Time since the newest event that is at the destination arrived.',
    of: ({ figures, now }) => ageInSeconds(figures.newest_delivered_at, now),
  },
  oldest_pending_age_seconds: {
    help: 'Time since the oldest event that waits for the schedule arrived; 0 when none waits.',
    of: ({ row, figures, now }) =>
      row.model === 'events' ? (ageInSeconds(figures.oldest_pending_at, now) ?? 0) : null,
  },
  rows_behind: {
    help: 'Events that wait for the schedule.',
    of: ({ figures }) => figures.rows_behind,
  },
  runs_behind: {
    help: 'Intervals that have ended and are not at the destination.',
    of: ({ figures }) => figures.runs_behind,
  },
  late: {
    help: 'Whether an event has waited for more than two intervals of its export; 0 while paused.',
    of: ({ figures }) => Number(figures.is_late),
  },
  paused: {
    help: 'Whether the export is paused.',
    of: ({ row }) => Number(row.paused),
  },
}

/** Exports without the figure are left out. */
function figuresById(measured: readonly Measured[], of: OfEach['of']): Record<string, number> {
  const pairs = measured.map((each) => [each.row.id, of(each)] as const)
  return Object.fromEntries(pairs.filter((pair): pair is [string, number] => pair[1] !== null))
}

async function measureAll(services: Pick<Services, 'db' | 'eventStore' | 'now'>): Promise<Measured[]> {
  const now = services.now()
  const exports = await listWatched(services.db, null)
  const figures = await measureFreshness(services, exports, now)
  return exports.map((row) => ({ row, figures: figures.get(row.id)!, now }))
}
