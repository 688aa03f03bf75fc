// Runs the jobs of apps when they are due, each at least once: a job is leased while it runs and deleted when it is done.
import { AppFault } from '../../../platform/sandbox/sandbox.ts'
import type { Services } from '../../../platform/services.ts'
import type { PluginMetrics } from '../metrics/plugin-metrics.ts'
import { exportPage, giveUpExport, isHistoricalExport } from './historical-export.ts'
import { claimJobs, continueJob, deleteJob, putOffJob, type JobRow } from './job-queries.ts'
import type { Leases } from './leases.ts'
import { AppIdle, type RunningApp, type RunningApps } from './running-app.ts'

const AT_ONCE = 5
/** Loading takes half a minute at most, and so does the call. One that waits longer for its turn is not begun twice. */
const LEASE_MS = 120_000
const TRIES = 5
const PAUSE_MS = 5_000
/** For an app that cannot be called now. */
const IDLE_PAUSE_MS = 10_000

export class AppJobs {
  readonly #services: Pick<Services, 'db' | 'eventStore' | 'log' | 'now'>
  readonly #apps: RunningApps
  readonly #metrics: PluginMetrics
  readonly #leases: Leases
  /** Under way, by config. */
  readonly #active = new Map<number, Set<Promise<void>>>()
  readonly #jobs = new Set<JobRow>()

  constructor(
    services: Pick<Services, 'db' | 'eventStore' | 'log' | 'now'>,
    apps: RunningApps,
    metrics: PluginMetrics,
    leases: Leases,
  ) {
    this.#services = services
    this.#apps = apps
    this.#metrics = metrics
    this.#leases = leases
  }

  /** Begins what is due. */
  async tick(): Promise<void> {
    const { db, now } = this.#services
    const configs = this.#apps
      .list()
      .filter(({ jobs, methods }) => jobs.length > 0 || methods.has('exportEvents'))
      .map(({ config_id, project_id }) => ({
        config_id,
        lease: this.#leases.of(project_id),
        free: AT_ONCE - (this.#active.get(config_id)?.size ?? 0),
      }))
      .filter(({ lease, free }) => lease && free > 0)
    const process_id = configs[0]?.lease?.process_id
    if (process_id === undefined) return
    const at = now()
    const claimed = await claimJobs(
      db,
      process_id,
      configs,
      [...this.#jobs].map(({ id }) => id),
      at,
      new Date(at.getTime() + LEASE_MS),
    )
    for (const job of claimed) this.#begin(job)
  }

  /** Whether something is under way for the project. */
  isBusy(project_id: number): boolean {
    return [...this.#jobs].some((job) => job.project_id === project_id)
  }

  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.all([...this.#active.values()].flatMap((each) => [...each]))
  }

  #begin(job: JobRow): void {
    const { plugin_config_id: id } = job
    const ofConfig = this.#active.get(id) ?? new Set()
    this.#active.set(id, ofConfig)
    this.#jobs.add(job)
    const done = this.#run(job)
      // Left unsaid, it runs again once its lease is over.
      .catch((error: unknown) =>
        this.#services.log.warn({ err: error }, 'plugins: the end of a job was lost'),
      )
      .finally(() => {
        ofConfig.delete(done)
        this.#jobs.delete(job)
        if (ofConfig.size === 0) this.#active.delete(id)
      })
    ofConfig.add(done)
  }

  async #run(job: JobRow): Promise<void> {
    const { db } = this.#services
    const app = this.#apps.current(job.plugin_config_id)
    if (!app) return this.#putBack(job)
    const { name, payload } = job
    let next: object | null = null
    try {
      if (isHistoricalExport(app, name)) next = await exportPage(this.#services, this.#apps, app, payload)
      else await this.#apps.call(app, { method: 'job', name, payload })
    } catch (error) {
      if (error instanceof AppIdle || !(error instanceof AppFault)) return this.#putBack(job)
      if (['gone', 'load', 'setup'].includes(error.kind)) return this.#putBack(job)
      if (error.may_retry && job.attempt < TRIES) {
        return putOffJob(db, job, job.attempt, this.#inMs(PAUSE_MS * 2 ** (job.attempt - 1)))
      }
      this.#metrics.count(app, 'scheduledTask', 'failure')
      this.#metrics.error(app, 'scheduledTask', error, null, job.id)
      return this.#giveUp(app, job)
    }
    this.#metrics.count(app, 'scheduledTask', job.attempt > 1 ? 'success_on_retry' : 'success')
    if (next) await continueJob(db, job, JSON.stringify(next), this.#services.now())
    else await deleteJob(db, job)
  }

  async #giveUp(app: RunningApp, job: JobRow): Promise<void> {
    if (isHistoricalExport(app, job.name)) await giveUpExport(this.#services, app)
    await deleteJob(this.#services.db, job)
  }

  /** As if it had not begun. */
  #putBack(job: JobRow): Promise<void> {
    return putOffJob(this.#services.db, job, job.attempt - 1, this.#inMs(IDLE_PAUSE_MS))
  }

  #inMs(ms: number): Date {
    return new Date(this.#services.now().getTime() + ms)
  }
}
