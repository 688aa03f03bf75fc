// The clockwork of apps in one process: keeps what is switched on in memory, takes events through it, and runs timetables
// and jobs. It hears of edits as they are made, and looks at everything now and then for what it did not hear of.
import type { AppCall } from '../../../platform/sandbox/sandbox.ts'
import type { Services } from '../../../platform/services.ts'
import type { EventTransform } from '../../events/event-transform.ts'
import type { Ingest } from '../../events/ingest.ts'
import { Delivery } from '../delivery/delivery.ts'
import { PluginLogs } from '../logs/plugin-logs.ts'
import { PluginMetrics } from '../metrics/plugin-metrics.ts'
import { Captures } from './host/captures.ts'
import { ProjectApi } from './host/project-api.ts'
import { openHost, type HostParts } from './host/host.ts'
import { AppJobs } from './jobs.ts'
import { MetricSums } from './host/metric-sums.ts'
import { openAppSandbox } from './attached-files.ts'
import { FaultRecords } from './fault-records.ts'
import { Drain } from './holding/drain.ts'
import { Holding } from './holding/holding.ts'
import { GivenUuids } from './ingestion/given-uuids.ts'
import { Lapses } from './ingestion/lapses.ts'
import { clearPassingErrors } from './queries.ts'
import { Leases } from './leases.ts'
import { Registry } from './registry.ts'
import type { RunningApp, RunningApps } from './running-app.ts'
import { Timetable } from './timetable.ts'
import { Transform } from './ingestion/transform.ts'
import { withTimeout } from '../../../lib/with-timeout.ts'
import { Watch } from './watch.ts'

const TICK_MS = 1_000
const LOOK_MS = 30_000
const CLOSING_MS = 5_000
/** An app that takes longer does not keep the server from starting: its events wait, or do what its config says. */
const LOADING_MS = 10_000

export class PluginRuntime implements RunningApps {
  readonly logs: PluginLogs
  readonly metrics: PluginMetrics
  readonly delivery: Delivery
  readonly holding: Holding
  /** Which projects this process works for. */
  readonly leases: Leases
  readonly lapses: Lapses
  /** What apps call the server's own API through. */
  readonly api = new ProjectApi()
  readonly #services: Services
  readonly #captures: Captures
  readonly #sums: MetricSums
  readonly #watch: Watch
  readonly #registry: Registry
  readonly #transform: Transform
  readonly #drain: Drain
  readonly #timetable: Timetable
  readonly #jobs: AppJobs
  #timers: NodeJS.Timeout[] = []
  #ticking: Promise<void> | null = null
  readonly #capturing = new Set<Promise<void>>()
  #works = true

  constructor(services: Services, ingest: Pick<Ingest, 'accept' | 'store'>) {
    this.#services = services
    this.logs = new PluginLogs(services)
    this.metrics = new PluginMetrics(services)
    this.#captures = new Captures(services, ingest)
    this.#sums = new MetricSums(services.now)
    const records = new FaultRecords(services)
    const { now, log } = services
    this.#watch = new Watch({ now, log, sandbox: openAppSandbox(services) }, this.logs, records)
    this.holding = new Holding(services)
    this.lapses = new Lapses(services, this.logs, records, (project_id) => this.holding.has(project_id))
    const host: HostParts = {
      services,
      logs: this.logs,
      captures: this.#captures,
      sums: this.#sums,
      watch: this.#watch,
      api: this.api,
    }
    this.#registry = new Registry(services, this.#watch, (facts) => openHost(host, facts))
    const chain = {
      services,
      watch: this.#watch,
      metrics: this.metrics,
      logs: this.logs,
      given: new GivenUuids(services),
      lapses: this.lapses,
      log: services.log,
      holding: this.holding,
      appsOf: (project_id: number) => this.#registry.transforming(project_id),
    }
    this.#transform = new Transform({ ...chain, captures: this.#captures, edits: this.#registry })
    const leases = new Leases(services, {
      projects: () => new Set([...this.#registry.projects(), ...this.holding.projects()]),
      isBusy: (project_id) => workers.some((worker) => worker.isBusy(project_id)),
    })
    this.leases = leases
    this.#drain = new Drain({ ...chain, ingest, leases })
    this.#timetable = new Timetable(services, this, this.metrics, leases)
    this.#jobs = new AppJobs(services, this, this.metrics, leases)
    this.delivery = new Delivery(services, this, this.logs, this.metrics, leases)
    const workers = [this.#drain, this.#timetable, this.#jobs, this.delivery]
  }

  readonly transform: EventTransform = (...batch) => this.#transform.accept(...batch)

  list(): readonly RunningApp[] {
    return this.#registry.list()
  }

  ofProject(project_id: number): readonly RunningApp[] {
    return this.#registry.ofProject(project_id)
  }

  current(config_id: number): RunningApp | undefined {
    return this.#registry.get(config_id)
  }

  call(app: RunningApp, call: AppCall): Promise<unknown> {
    return this.#watch.call(app, call)
  }

  /** Before the first event: what waits from before, what is switched on, and the apps that events go through. */
  async load(): Promise<void> {
    await this.holding.load()
    await clearPassingErrors(this.#services.db)
    await this.refresh()
    const apps = this.list().filter(({ methods }) => methods.has('processEvent'))
    await this.#watch.prepareAll(apps, LOADING_MS)
  }

  /** Looks at everything that is switched on. */
  refresh(): Promise<void> {
    return this.#registry.refresh()
  }

  /**
   * `works`: delivers and runs timetables, jobs and held events; otherwise it only takes events through apps. `takes_over`:
   * nobody else can be at work on these events, so what is leased belongs to a dead process.
   */
  async start({ works, takes_over }: { works: boolean; takes_over: boolean }): Promise<void> {
    this.#works = works
    if (works && takes_over) await this.leases.takeOver()
    if (works) this.delivery.start()
    this.#timers = [
      setInterval(
        () => this.#quietly((this.#ticking ??= this.tick().finally(() => (this.#ticking = null)))),
        TICK_MS,
      ),
      setInterval(() => this.#quietly(this.refresh()), LOOK_MS),
    ]
  }

  /** Begins what is due, deliveries aside. */
  async tick(): Promise<void> {
    await this.#registry.applyEdits()
    this.#watch.retrySetups()
    this.lapses.tick()
    this.#captureSums('ended')
    await this.holding.refresh()
    if (!this.#works) return
    await this.leases.keep()
    await this.#timetable.tick(this.leases.takeGained())
    this.#drain.tick()
    await this.#jobs.tick()
  }

  /** Until nothing is at work. */
  async idle(): Promise<void> {
    await Promise.all(this.#capturing)
    await this.#registry.idle()
    await this.#timetable.idle()
    await this.#jobs.idle()
    await this.#drain.idle()
    await this.delivery.idle()
    await this.#watch.idle()
  }

  /** Calls under way may finish; a job that does not is run again after its lease. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.#ticking?.catch(() => undefined)
    this.#registry.stopListening()
    await this.#drain.close()
    await this.delivery.close()
    this.lapses.close()
    this.#captureSums('all')
    await withTimeout(this.idle(), CLOSING_MS, () => undefined)
    this.holding.close()
    await this.leases.close().catch((error: unknown) => this.#complain(error))
    await this.logs.close()
    await this.metrics.close()
  }

  /** In the background: one project whose events cannot be taken does not hold up the others. */
  #captureSums(which: 'ended' | 'all'): void {
    for (const { app, values } of this.#sums.take(which)) {
      const captured = this.#captures
        .capture(app, '$plugin_metrics', values)
        .catch((error: unknown) => this.#complain(error))
        .finally(() => this.#capturing.delete(captured))
      this.#capturing.add(captured)
    }
  }

  #quietly(work: Promise<void>): void {
    work.catch((error: unknown) => this.#complain(error))
  }

  #complain(error: unknown): void {
    this.#services.log.warn({ err: error }, 'plugins: a temporary fault')
  }
}
