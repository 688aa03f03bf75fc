// The clockwork of exports in one process: makes the runs that are due, claims as many as it may work on, keeps their
// leases alive and stops those it has lost. Any number of processes may do so at the same time.
import { randomUUID } from 'node:crypto'
import type { Services } from '../../../platform/services.ts'
import { makeBackfillRuns } from '../backfills/make-runs.ts'
import type { RunRow } from '../rows.ts'
import { claimRun, keepLeases, leaseKey, makeSlots, reapRuns, returnRun } from '../runs/queries.ts'
import { makeDueRuns } from '../schedule/due.ts'
import { attemptRun } from './attempt.ts'
import { RunTally } from './tally.ts'
import { Stopped, type OnProgress } from './work.ts'

const MAX_RUNS = 8
const TICK_MS = 1_000
const BEAT_MS = 3_000
const HOUR_MS = 3_600_000

type Active = { controller: AbortController; done: Promise<void>; time_limit: NodeJS.Timeout }

export type EngineOptions = {
  /** Works on this backfill alone, as the command line does; otherwise on everything that is due. */
  backfill_id?: string
  onProgress?: OnProgress
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
    await reapRuns(db, now(), now())
    if (this.#options.backfill_id === undefined) await makeDueRuns(this.#services, now())
    await makeBackfillRuns(this.#services, now())
    await makeSlots(db)
    while (!this.#is_closing && this.#active.size < MAX_RUNS) {
      const run = await claimRun(db, this.#owner, now(), this.#options.backfill_id ?? null)
      if (!run) return
      await this.#begin(run)
    }
  }

  /** Keeps the leases; work on a run that was cancelled, or taken over, stops. */
  async beat(): Promise<void> {
    if (this.#active.size === 0) return
    const asked = [...this.#active]
    const kept = await keepLeases(this.#services.db, this.#owner, this.#services.now())
    for (const [key, { controller }] of asked) if (!kept.has(key)) controller.abort(new Stopped('lost'))
  }

  /** Until nothing is at work. */
  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.all([...this.#active.values()].map(({ done }) => done))
  }

  /** Work under way is given back, for whoever comes next. */
  async close(): Promise<void> {
    this.#is_closing = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#ticking?.catch(() => undefined)
    for (const { controller } of this.#active.values()) controller.abort(new Stopped('closing'))
    await this.idle()
  }

  async #begin(run: RunRow): Promise<void> {
    const { db, now } = this.#services
    const lease = { run_id: run.id, owner: this.#owner, attempt: run.attempt }
    if (run.data_interval_end > now()) {
      // Made while the clock was ahead.
      const run_after = run.data_interval_end
      await returnRun(db, lease, { run_after, latest_error: null, is_failure: false }, now())
      return
    }
    const controller = new AbortController()
    const key = leaseKey(lease)
    const time_limit = setTimeout(() => controller.abort(new Stopped('time is up')), timeLimitMs(run)).unref()
    const work = attemptRun(this.#services, run, this.#owner, {
      signal: controller.signal,
      tally: this.tally,
      onProgress: this.#options.onProgress,
    })
    const done = work.finally(() => {
      clearTimeout(time_limit)
      this.#active.delete(key)
      // Its place is free.
      if (this.#timers.length > 0 && !this.#is_closing) this.#tickNow()
    })
    this.#active.set(key, { controller, done, time_limit })
  }

  #tickNow(): void {
    this.#quietly((this.#ticking ??= this.tick().finally(() => (this.#ticking = null))))
  }

  #beatNow(): void {
    this.#quietly((this.#beating ??= this.beat().finally(() => (this.#beating = null))))
  }

  #quietly(work: Promise<void>): void {
    work.catch((error: unknown) => this.#services.log.warn({ err: error }, 'exports: a passing fault'))
  }
}

/** Of one attempt, by the length of its interval: an hour's data gets six. */
function timeLimitMs({ data_interval_start, data_interval_end }: RunRow): number {
  if (data_interval_start === null) return 72 * HOUR_MS
  const length = data_interval_end.getTime() - data_interval_start.getTime()
  if (length > 48 * HOUR_MS) return 72 * HOUR_MS
  if (length > 2 * HOUR_MS) return 24 * HOUR_MS
  return length >= HOUR_MS ? 6 * HOUR_MS : Math.max(HOUR_MS / 3, length)
}
