// What /metrics tells of events and apps: no names, no ids.
import type { Metrics } from '../../../platform/http/metrics.ts'
import type { PluginRuntime } from './runtime.ts'

export function addPluginMetrics(metrics: Metrics, { lapses, holding }: PluginRuntime): void {
  metrics.counter(
    'longshore_app_lapses_total',
    'Events that an app could not run on, by what became of them: passed, held or dropped.',
    () => lapses.totals,
    'became',
  )
  metrics.gauge(
    'longshore_held_events',
    'Events that wait for an app: in line, or alone because the app failed over that very event.',
    async () => holding.totals(),
    'waits',
  )
}
