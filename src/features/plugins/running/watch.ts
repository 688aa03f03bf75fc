// Watches over apps while they are called: who may be called, who sits out, who is loaded, and what a fault leads to.
// Instants are the application's, so that tests can move them; only limits on waiting are by the real clock.
import { AppFault, type AppCall, type EventOutcome, type Host } from '../../../platform/sandbox/sandbox.ts'
import type { Services } from '../../../platform/services.ts'
import type { PluginLogs } from '../logs/plugin-logs.ts'
import type { AppSandbox, StoredApp } from './attached-files.ts'
import type { FaultRecords, FaultyApp } from './fault-records.ts'
import { AppIdle, AppLeft, type RunningApp } from './running-app.ts'
import { withTimeout } from '../../../lib/with-timeout.ts'

const SECOND_MS = 1_000
const SIT_OUT_MS = 10 * SECOND_MS
const ANSWER_GRACE_MS = 100
const SETUP_TRIES = 5
const SETUP_PAUSE_MS = 5 * SECOND_MS
const SETUP_LONG_PAUSE_MS = 600 * SECOND_MS
const STRIKES = 3
const STRIKE_WINDOW_MS = 600 * SECOND_MS
/** An app that guards events is not switched off for its faults: it pauses. */
const STRIKES_PAUSE_MS = 60 * SECOND_MS
/** At a start. An app takes half a megabyte once it is loaded. */
const MAX_LOADED = 500

type WatchServices = Pick<Services, 'now' | 'log'> & { sandbox: AppSandbox }

type Code = { app: StoredApp; host: Host }

type Standing = Code & {
  of: RunningApp
  /** Not to be called before; Infinity: before the next edit. */
  idle_until: number
  /** Why not. */
  idle_because: string
  is_loaded: boolean
  loading: Promise<void> | null
  /** Events have waited in vain for it to be loaded. */
  is_late: boolean
  /** A batch that it has not answered in time: until it does, events do without it. */
  unanswered: Promise<unknown> | null
  setup_tries: number
  strikes: number[]
  /** The row says that something keeps it from running. */
  has_error: boolean
}

export class Watch {
  readonly #services: WatchServices
  readonly #logs: PluginLogs
  readonly #records: FaultRecords
  readonly #standings = new Map<number, Standing>()

  constructor(services: WatchServices, logs: PluginLogs, records: FaultRecords) {
    this.#services = services
    this.#logs = logs
    this.#records = records
  }

  /** New, or edited: whatever was held against it is forgotten. */
  enter(app: RunningApp, has_error: boolean): void {
    const code = sandboxed(app)
    if (!code) return
    this.#standings.set(app.config_id, {
      ...code,
      of: app,
      idle_until: 0,
      idle_because: '',
      is_loaded: false,
      loading: null,
      is_late: false,
      unanswered: null,
      setup_tries: 0,
      strikes: [],
      has_error,
    })
  }

  async leave(config_id: number): Promise<void> {
    if (this.#standings.delete(config_id)) await this.#services.sandbox.dispose(config_id)
  }

  /** A fault of one event, found outside the sandbox. */
  note(app: RunningApp, fault: AppFault, what: string): void {
    this.#logs.add(app, 'PLUGIN', 'ERROR', describe(what, fault))
  }

  /** Something of it that no call waits for hit a limit. */
  stopped(config_id: number, fault: AppFault): void {
    const standing = this.#standings.get(config_id)
    if (standing) this.#faulted(standing, fault, 'Work in the background')
  }

  /** Its code was never even fit to be loaded. */
  cannotLoad(app: FaultyApp, message: string): void {
    this.#logs.add(app, 'SYSTEM', 'ERROR', `The code cannot be run: ${message}`)
    this.#records.note(app, message)
  }

  async call(app: RunningApp, call: AppCall): Promise<unknown> {
    const standing = this.#awake(app)
    try {
      const result = await this.#services.sandbox.call(standing.app, standing.host, call)
      this.#loaded(standing)
      return result
    } catch (error) {
      if (error instanceof AppFault) this.#faulted(standing, error, nameOf(call))
      throw error
    }
  }

  /**
   * The outcomes in time, or AppIdle or AppFault. Whoever comes first waits for an app that is being loaded; the others do
   * without it.
   */
  async processEvents(
    app: RunningApp,
    events: readonly string[],
    within_ms: number,
  ): Promise<EventOutcome[]> {
    const standing = this.#awake(app)
    if (standing.unanswered) throw new AppIdle('it has not answered earlier events yet')
    const began = performance.now()
    if (!standing.is_loaded) {
      if (standing.loading && standing.is_late) throw new AppIdle('it is still being loaded')
      await withTimeout(this.#load(standing), within_ms, () => undefined)
      standing.is_late = !standing.is_loaded
      if (standing.is_late) throw new AppIdle(standing.idle_because || 'it is still being loaded')
    }
    const left_ms = Math.max(1, within_ms - (performance.now() - began))
    const working = this.#processEvents(standing, events, left_ms)
    // Its thread may have to be ended first; what that means for the app is seen to when it is known.
    const outcomes = await withTimeout(working, left_ms + ANSWER_GRACE_MS, () => null)
    if (outcomes) return outcomes
    standing.unanswered = working.catch(() => undefined).finally(() => (standing.unanswered = null))
    throw new AppFault('late', 'the app did not answer in time')
  }

  async #processEvents(
    standing: Standing,
    events: readonly string[],
    within_ms: number,
  ): Promise<EventOutcome[]> {
    const { app, host } = standing
    try {
      const outcomes = await this.#services.sandbox.processEvents(app, host, events, within_ms)
      for (const fault of firstOfEachKind(outcomes)) this.#faulted(standing, fault, 'processEvent')
      return outcomes
    } catch (error) {
      if (error instanceof AppFault) this.#faulted(standing, error, 'processEvent')
      throw error
    }
  }

  /** Loads and sets up; a fault is noted, not thrown. */
  async prepare(config_id: number): Promise<void> {
    const standing = this.#standings.get(config_id)
    if (standing && !standing.is_loaded) await this.#load(standing)
  }

  /** Loads them, or as many as there is time and room for; the others are loaded when they are needed. */
  async prepareAll(apps: readonly RunningApp[], within_ms: number): Promise<void> {
    const loading = apps.slice(0, MAX_LOADED).map(({ config_id }) => this.prepare(config_id))
    await withTimeout(Promise.all(loading), within_ms, () => undefined)
  }

  /** Whether it makes sense to hand it events. */
  mayCall({ config_id, code }: RunningApp): boolean {
    if (code.kind !== 'sandboxed') return code.kind === 'inline'
    const standing = this.#standings.get(config_id)
    return standing !== undefined && !this.#isIdle(standing) && !standing.unanswered
  }

  /** Begins to load those again whose setup asked for it. */
  retrySetups(): void {
    for (const standing of this.#standings.values()) {
      if (standing.setup_tries > 0 && !this.#isIdle(standing)) void this.#load(standing)
    }
  }

  /** Until all that happened is written down. */
  async idle(): Promise<void> {
    for (const { loading, unanswered } of this.#standings.values()) await Promise.all([loading, unanswered])
    await this.#records.idle()
  }

  #awake({ config_id }: RunningApp): Standing {
    const standing = this.#standings.get(config_id)
    if (!standing) throw new AppLeft('it was switched off')
    if (this.#isIdle(standing)) throw new AppIdle(standing.idle_because)
    return standing
  }

  #isIdle({ idle_until }: Standing): boolean {
    return idle_until > this.#services.now().getTime()
  }

  #load(standing: Standing): Promise<void> {
    standing.loading ??= this.#services.sandbox
      .prepare(standing.app, standing.host)
      .then(
        () => this.#loaded(standing),
        (error: unknown) => {
          if (!(error instanceof AppFault)) throw error
          this.#faulted(standing, error, 'loading')
        },
      )
      .catch((error: unknown) => this.#services.log.warn({ err: error }, 'plugins: a temporary fault'))
      .finally(() => (standing.loading = null))
    return standing.loading
  }

  #loaded(standing: Standing): void {
    if (this.#standings.get(standing.of.config_id) !== standing) return
    standing.is_loaded = true
    standing.setup_tries = 0
    if (standing.has_error) this.#records.clear(standing.of)
    standing.has_error = false
  }

  #faulted(standing: Standing, fault: AppFault, what: string): void {
    const { kind } = fault
    const { of: app } = standing
    if (kind === 'gone') return
    if (this.#standings.get(app.config_id) !== standing) {
      // Edited meanwhile. What the code threw at an event is said all the same.
      if (kind === 'threw' || kind === 'result') this.#logs.add(app, 'PLUGIN', 'ERROR', describe(what, fault))
      return
    }
    const isLoading = kind === 'load' || kind === 'setup'
    // All who wait for one attempt to load hear of its failure: it counts once.
    if (isLoading && this.#isIdle(standing)) return
    this.#logs.add(app, kind === 'threw' ? 'PLUGIN' : 'SYSTEM', 'ERROR', describe(what, fault))
    if (kind === 'load') this.#rest(standing, fault, Infinity)
    if (kind === 'setup') this.#setupFailed(standing, fault)
    if (kind === 'cpu' || kind === 'memory' || kind === 'killed') this.#strike(standing, fault)
    if (kind === 'time' && what === 'processEvent') this.#sitOut(standing, fault, SIT_OUT_MS)
  }

  #setupFailed(standing: Standing, fault: AppFault): void {
    standing.setup_tries++
    if (!fault.may_retry) this.#rest(standing, fault, Infinity)
    else if (standing.setup_tries < SETUP_TRIES)
      this.#sitOut(standing, fault, SETUP_PAUSE_MS * 2 ** (standing.setup_tries - 1))
    else this.#rest(standing, fault, SETUP_LONG_PAUSE_MS)
  }

  /** Something is wrong that somebody has to mend. */
  #rest(standing: Standing, fault: AppFault, for_ms: number): void {
    this.#sitOut(standing, fault, for_ms)
    standing.is_loaded = false
    standing.has_error = true
    this.#records.note(standing.of, fault.message)
  }

  #strike(standing: Standing, fault: AppFault): void {
    const now = this.#services.now().getTime()
    this.#sitOut(standing, fault, SIT_OUT_MS)
    // Calls that were under way together end together: one strike.
    if (now - (standing.strikes.at(-1) ?? -Infinity) < SIT_OUT_MS) return
    standing.strikes = [...standing.strikes.filter((at) => at > now - STRIKE_WINDOW_MS), now]
    if (standing.strikes.length < STRIKES) return
    if (standing.of.methods.has('processEvent') && standing.of.on_failure !== 'pass')
      return this.#rest(standing, fault, STRIKES_PAUSE_MS)
    this.#sitOut(standing, fault, Infinity)
    this.#logs.add(standing.of, 'SYSTEM', 'ERROR', 'Switched off: it has hit its limits too often.')
    this.#records.switchOff(standing.of, fault.message)
  }

  #sitOut(standing: Standing, { message }: AppFault, for_ms: number): void {
    standing.idle_because = message
    standing.idle_until = Math.max(standing.idle_until, this.#services.now().getTime() + for_ms)
  }
}

function sandboxed({ code }: RunningApp): Code | null {
  return code.kind === 'sandboxed' ? { app: code.app, host: code.host } : null
}

/** A batch in which every event burns its time is one fault, not a hundred. What the code throws is logged by event. */
function firstOfEachKind(outcomes: readonly EventOutcome[]): AppFault[] {
  const faults = outcomes.flatMap((outcome) => (outcome.kind === 'failed' ? [outcome.fault] : []))
  const seen = new Set<string>()
  return faults.filter(({ kind }) => {
    if (kind === 'threw' || kind === 'result') return true
    if (seen.has(kind)) return false
    seen.add(kind)
    return true
  })
}

function nameOf(call: AppCall): string {
  if (call.method === 'job') return `job ${call.name}`
  return call.method === 'task' ? call.name : call.method
}

function describe(what: string, { kind, error: { name, message, stack } }: AppFault): string {
  const problem =
    kind === 'load' ? 'The code does not load' : kind === 'setup' ? 'setupPlugin failed' : `${what} failed`
  return `${problem}: ${stack.trim() || `${name}: ${message}`}`
}
