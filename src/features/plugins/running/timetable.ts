// Calls runEveryMinute, runEveryHour and runEveryDay when the clock passes second, minute or hour 0 (UTC). What falls due
// while the last run is still going on is left out. Each minute, hour or day is begun by one process; what fell due while a
// project changed hands is made up for.
import { AppFault } from '../../../platform/sandbox/sandbox.ts'
import type { Services } from '../../../platform/services.ts'
import type { PluginMetrics } from '../metrics/plugin-metrics.ts'
import type { Leases } from './leases.ts'
import type { RunningApp, RunningApps } from './running-app.ts'
import { beginTasks, makeUpForTasks, type DueTask } from './timetable-queries.ts'

const PERIODS_MS: ReadonlyMap<string, number> = new Map([
  ['runEveryMinute', 60_000],
  ['runEveryHour', 3_600_000],
  ['runEveryDay', 86_400_000],
])

export class Timetable {
  readonly #services: Pick<Services, 'db' | 'now'>
  readonly #apps: RunningApps
  readonly #metrics: PluginMetrics
  readonly #leases: Leases
  readonly #running = new Map<string, Promise<void>>()
  #looked_at: number

  constructor(
    services: Pick<Services, 'db' | 'now'>,
    apps: RunningApps,
    metrics: PluginMetrics,
    leases: Leases,
  ) {
    this.#services = services
    this.#apps = apps
    this.#metrics = metrics
    this.#leases = leases
    this.#looked_at = services.now().getTime()
  }

  /** Begins what fell due since the last look: once, however often. `gained`: projects that were not ours before. */
  async tick(gained: readonly number[]): Promise<void> {
    const { db, now } = this.#services
    const now_ms = now().getTime()
    const due: DueTask[] = []
    const missed: DueTask[] = []
    for (const [task, period_ms] of PERIODS_MS) {
      const period = Math.floor(now_ms / period_ms)
      const isDue = period > Math.floor(this.#looked_at / period_ms)
      for (const { config_id, project_id } of this.#appsWith(task)) {
        if (isDue) due.push({ config_id, task, period })
        else if (gained.includes(project_id)) missed.push({ config_id, task, period })
      }
    }
    const begun = due.length > 0 ? await beginTasks(db, due) : []
    if (missed.length > 0) begun.push(...(await makeUpForTasks(db, missed)))
    this.#looked_at = now_ms
    for (const { config_id, task } of begun) {
      const app = this.#apps.current(config_id)
      if (app) this.#begin(app, task)
    }
  }

  /** Whether something is under way for the project. */
  isBusy(project_id: number): boolean {
    return this.#apps
      .ofProject(project_id)
      .some(({ config_id }) =>
        [...PERIODS_MS.keys()].some((task) => this.#running.has(`${config_id} ${task}`)),
      )
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  #appsWith(task: string): RunningApp[] {
    return this.#apps
      .list()
      .filter(
        ({ config_id, project_id, scheduled_tasks }) =>
          scheduled_tasks.includes(task) &&
          this.#leases.of(project_id) &&
          !this.#running.has(`${config_id} ${task}`),
      )
  }

  #begin(app: RunningApp, name: string): void {
    const key = `${app.config_id} ${name}`
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
