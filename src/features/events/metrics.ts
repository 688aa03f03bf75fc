// What /metrics tells of ingestion: by this process, since it started.
import type { Metrics } from '../../platform/http/metrics.ts'
import type { Ingest } from './ingest.ts'

export function addIngestMetrics(metrics: Metrics, ingest: Ingest): void {
  const { tally } = ingest
  metrics.counter(
    'longshore_events_received_total',
    'Events received since this process started: once none waits, those stored, repeated and dropped.',
    () => tally.received,
  )
  metrics.counter(
    'longshore_events_stored_total',
    'Events stored since this process started; repeats are left out.',
    () => tally.stored.total,
  )
  metrics.counter('longshore_events_repeated_total', 'Events that were stored before.', () => tally.repeated)
  metrics.counter(
    'longshore_events_dropped_total',
    'Events that were not stored: app (dropped by it), held (received again once their app can run), or refused, so that their sender keeps them: no_room, too_large, project_deleted, failed.',
    () => tally.dropped,
    'reason',
  )
  metrics.counter(
    'longshore_ingestion_seconds_total',
    'Seconds spent on each step of ingestion: read and transform by request, persons and write by batch.',
    () => tally.seconds,
    'step',
  )
  metrics.counter(
    'longshore_ingestion_steps_total',
    'How often each step of ingestion was taken.',
    () => tally.runs,
    'step',
  )
  metrics.gauge(
    'longshore_ingest_waiting',
    'What was received and waits to be stored: events, and their bytes.',
    async () => ingest.waiting(),
    'unit',
  )
}
