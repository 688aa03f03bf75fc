// What /metrics tells of ingestion.
import type { Metrics } from '../../platform/http/metrics.ts'
import type { Ingest } from './ingest.ts'

export function addIngestMetrics(metrics: Metrics, ingest: Ingest): void {
  metrics.counter(
    'longshore_events_stored_total',
    'Events stored since this process started; repeats are left out.',
    () => ingest.tally.total,
  )
  metrics.gauge(
    'longshore_ingest_waiting',
    'What was received and waits to be stored: events, and their bytes.',
    async () => ingest.waiting(),
    'unit',
  )
}
