// The clockwork of exports in one process: makes the runs that are due, claims as many as it may work on, keeps their
// leases alive and stops those it has lost. Any number of processes may do so at the same time.
import { randomUUID } from 'node:crypto'
import type { Services } from '../../../platform/services.ts'
import { makeBackfillRuns } from '../backfills/make-runs.ts'
import type { RunRow } from '../rows.ts'
import { claimRun, makeSlots } from '../runs/claim.ts'
import { keepLeases, leaseKey, reapRuns, returnRun } from '../runs/queries.ts'
import { makeDueRuns } from '../schedule/due.ts'
import { admittedBelow } from './admission.ts'
import { attemptRun } from './attempt.ts'
import { RunTally } from './tally.ts'
import { Watch } from './watch.ts'
import { Stopped, type OnProgress } from './work.ts'

const TICK_MS = 1_000
const BEAT_MS = 3_000
const HOUR_MS = 3_600_000

type Active = {
  run_id: string
  controller: AbortController
  watch: Watch
  done: Promise<void>
}

export type EngineOptions = {
  /** Works on this backfill alone, as the command line does; otherwise on everything that is due. */
  backfill_id?: string
  onProgress?: OnProgress
  /** A monotonic clock that measures how long destinations take to answer. */
  elapsed_ms?: () => number
}

export class ExportEngine {
  readonly tally = new RunTally()
  readonly #services: Services
  readonly #options: EngineOptions
  readonly #owner = randomUUID()
  readonly #active = new Map<string, Active>()
  #timers: NodeJS.Timeout[] = []
  #ticking: Promise<void> | null = null
  #beating: Promise<void> | null = null
  /** There was no room for more runs, so some may be due and waiting. */
  #is_full = false
  #is_closing = false

  constructor(services: Services, options: EngineOptions = {}) {
    this.#services = services
    this.#options = options
  }

  /** `takes_over`: nobody else can be at work on these events, so what is leased belongs to a dead process. */
  async start({ takes_over }: { takes_over: boolean }): Promise<void> {
    const { db, now } = this.#services
    if (takes_over) await reapRuns(db, new Date(8.64e15), now())
    this.#timers = [setInterval(() => this.#tickNow(), TICK_MS), setInterval(() => this.#beatNow(), BEAT_MS)]
  }

  /** Makes what is due and begins what can be begun. */
  async tick(): Promise<void> {
    const { db, now } = this.#services
    const { backfill_id } = this.#options
    await reapRuns(db, now(), now())
    if (backfill_id === undefined) await makeDueRuns(this.#services, now())
    await makeBackfillRuns(this.#services, now())
    await makeSlots(db)
    for (;;) {
      const fewer_than = this.#admittedBelow()
      this.#is_full = fewer_than === 0
      if (this.#is_full || this.#is_closing) return
      const run = await claimRun(db, this.#owner, now(), { backfill_id, fewer_than })
      if (!run) return
      await this.#begin(run)
    }
  }

  /** Keeps the leases; work stops on a run that was cancelled or taken over, or whose destination is silent. */
  async beat(): Promise<void> {
    if (this.#active.size === 0) return
    const { db, now } = this.#services
    const asked = [...this.#active]
    const waiting = asked.flatMap(([, { run_id, watch }]) => {
      const since = watch.waitingSince()
      return since ? [[run_id, since] as const] : []
    })
    const run_ids = asked.map(([, { run_id }]) => run_id)
    const kept = await keepLeases(db, this.#owner, run_ids, new Map(waiting), now())
    for (const [key, { controller, watch }] of asked) {
      const reason = kept.has(key) ? watch.silence() : new Stopped('lost')
      if (reason) controller.abort(reason)
    }
  }

  /** Waits until no run is at work. */
  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.all([...this.#active.values()].map(({ done }) => done))
  }

  /** Gives the runs under way back, for whoever comes next. */
  async close(): Promise<void> {
    this.#is_closing = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#ticking?.catch(() => undefined)
    for (const { controller } of this.#active.values()) controller.abort(new Stopped('closing'))
    await this.idle()
  }

  #admittedBelow(): number {
    const watches = [...this.#active.values()].map(({ watch }) => watch)
    const working = watches.filter((watch) => watch.waitingSince() === null).length
    return admittedBelow({ working, live: watches.length }, this.#services.settings.export_max_runs)
  }

  async #begin(run: RunRow): Promise<void> {
    const { db, now } = this.#services
    const lease = { run_id: run.id, owner: this.#owner, attempt: run.attempt }
    if (run.data_interval_end > now()) {
      // The run was made while the clock was ahead.
      await returnRun(db, lease, { run_after: run.data_interval_end, failure: null }, now())
      return
    }
    const controller = new AbortController()
    const key = leaseKey(lease)
    const { elapsed_ms = () => performance.now(), onProgress } = this.#options
    const watch = new Watch({ elapsed_ms, now, onWaiting: () => this.#is_full && this.#placeIsFree() })
    const time_limit = setTimeout(() => controller.abort(new Stopped('time is up')), timeLimitMs(run)).unref()
    const attempt = { signal: controller.signal, watch, tally: this.tally, onProgress }
    const done = attemptRun(this.#services, run, this.#owner, attempt).finally(() => {
      clearTimeout(time_limit)
      this.#active.delete(key)
      this.#placeIsFree()
    })
    this.#active.set(key, { run_id: run.id, controller, watch, done })
  }

  /** Begins another run at once, without waiting for the next tick. */
  #placeIsFree(): void {
    if (this.#timers.length > 0 && !this.#is_closing) this.#tickNow()
  }

  #tickNow(): void {
    this.#quietly((this.#ticking ??= this.tick().finally(() => (this.#ticking = null))))
  }

  #beatNow(): void {
    this.#quietly((this.#beating ??= this.beat().finally(() => (this.#beating = null))))
  }

  #quietly(work: Promise<void>): void {
    work.catch((error: unknown) => this.#services.log.warn({ err: error }, 'exports: a temporary fault'))
  }
}

/** Time limit of one attempt, by the length of its interval: an hour's data gets six hours. */
function timeLimitMs({ data_interval_start, data_interval_end }: RunRow): number {
  if (data_interval_start === null) return 72 * HOUR_MS
  const length = data_interval_end.getTime() - data_interval_start.getTime()
  if (length > 48 * HOUR_MS) return 72 * HOUR_MS
  if (length > 2 * HOUR_MS) return 24 * HOUR_MS
  return length >= HOUR_MS ? 6 * HOUR_MS : Math.max(HOUR_MS / 3, length)
}
