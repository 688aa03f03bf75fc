// Calls runEveryMinute, runEveryHour and runEveryDay when the clock passes second, minute or hour 0 (UTC). What falls due
// while the last run is still going on is left out.
import { AppFault } from '../../../platform/sandbox/sandbox.ts'
import type { PluginMetrics } from '../metrics/plugin-metrics.ts'
import type { RunningApp, RunningApps } from './running-app.ts'

const PERIODS_MS: ReadonlyMap<string, number> = new Map([
  ['runEveryMinute', 60_000],
  ['runEveryHour', 3_600_000],
  ['runEveryDay', 86_400_000],
])

export class Timetable {
  readonly #apps: RunningApps
  readonly #metrics: PluginMetrics
  readonly #now: () => Date
  readonly #running = new Map<string, Promise<void>>()
  #looked_at: number

  constructor(apps: RunningApps, metrics: PluginMetrics, now: () => Date) {
    this.#apps = apps
    this.#metrics = metrics
    this.#now = now
    this.#looked_at = now().getTime()
  }

  /** Begins what fell due since the last look: once, however often. */
  tick(): void {
    const now = this.#now().getTime()
    const due = [...PERIODS_MS].filter(
      ([, period]) => Math.floor(now / period) > Math.floor(this.#looked_at / period),
    )
    this.#looked_at = now
    if (due.length === 0) return
    for (const app of this.#apps.list()) {
      for (const [name] of due) if (app.scheduled_tasks.includes(name)) this.#begin(app, name)
    }
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  #begin(app: RunningApp, name: string): void {
    const key = `${app.config_id} ${name}`
    if (this.#running.has(key)) return
    const done = this.#run(app, name).finally(() => this.#running.delete(key))
    this.#running.set(key, done)
  }

  async #run(app: RunningApp, name: string): Promise<void> {
    try {
      await this.#apps.call(app, { method: 'task', name })
      this.#metrics.count(app, 'scheduledTask', 'success')
    } catch (error) {
      if (!(error instanceof AppFault) || error.kind === 'gone') return
      this.#metrics.count(app, 'scheduledTask', 'failure')
      this.#metrics.error(app, 'scheduledTask', error, null)
    }
  }
}
