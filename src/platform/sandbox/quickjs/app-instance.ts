// One app in a machine of its own: its loading, its calls and what they wait for. It lives until a limit stops it or
// somebody gives it up.
import type { JsonObject } from '../../../lib/json-object.ts'
import { guestTexts } from '../event-text.ts'
import { MAX_ALARMS, type Limits } from '../limits.ts'
import { describeFault, monotonicMs, outOfTurn, type PlainOutcome, type ThreadApp } from '../messages.ts'
import { AppFault, type AppCall, type Offer } from '../sandbox.ts'
import { Alarms } from './alarms.ts'
import { makeAppMachine } from './app-machine.ts'
import { readOutcome } from './event-outcome.ts'
import { HostFunctions, type Surroundings } from './host-functions.ts'
import { hopsOf, hopsOfText } from './hops.ts'
import { invocationOf, type Invocation } from './invocation.ts'
import { MachineFault, ScriptFault, type Engine, type Machine, type Operation } from './machine.ts'
import { readAnswer } from './read-answer.ts'
import { writeAnswer } from './requests.ts'
import { readOffer, wrapScript, writeSettings } from './script.ts'
import { allLines, Turn, type Lines } from './turn.ts'

type Parked = {
  turn: Turn
  text: string | null
  resolve?(text: string): void
  reject?(fault: AppFault): void
}

/** After these the rest of a batch is not tried: each event would take its full time. */
const ENDS_BATCH = new Set(['cpu', 'memory', 'time', 'gone'])
const LATE: PlainOutcome = { kind: 'failed', fault: describeFault(outOfTurn()) }

export class AppInstance {
  offer: Offer = { capabilities: { scheduled_tasks: [], jobs: [], methods: [] }, metrics: {}, exports: [] }
  /** Set once it is of no use any more. */
  ended: AppFault | null = null
  onEnded: (() => void) | undefined
  readonly alarms: Alarms
  readonly #host: HostFunctions
  readonly #parked = new Map<number, Parked>()
  readonly #turns = new Set<Turn>()
  #machine!: Machine
  #turn: Turn
  #last_call = 0
  #batches: Promise<unknown> | null = null
  #hasWarned = false

  private constructor(
    app: ThreadApp,
    private readonly engine: Engine,
    private readonly limits: Limits,
    around: Surroundings,
    is_inspection: boolean,
  ) {
    this.#turn = new Turn(limits.call_cpu_ms)
    this.alarms = new Alarms(MAX_ALARMS, (id) => this.#deliver(new Turn(limits.event_cpu_ms), 'alarm', id))
    this.#host = new HostFunctions(
      app,
      around,
      {
        turn: () => this.#turn,
        offer: () => this.offer,
        settle: (id, text) => this.#settle(id, text),
        answer: (id, answer, turn) => this.#deliver(turn, 'answer', id, [writeAnswer(answer)]),
        setAlarm: (id, delay_ms) => this.alarms.set(id, delay_ms),
        clearAlarm: (id) => this.alarms.clear(id),
      },
      is_inspection,
    )
  }

  /** Throws AppFault of the kind `load`. */
  static async load(
    app: ThreadApp,
    engine: Engine,
    limits: Limits,
    around: Surroundings,
    purpose: 'run' | 'inspect',
  ): Promise<AppInstance> {
    const instance = new AppInstance(app, engine, limits, around, purpose === 'inspect')
    instance.#machine = await makeAppMachine(engine, app, (operation, args, last) =>
      instance.#host.call(operation, args, last),
    )
    instance.#load(app, purpose === 'inspect' ? limits.inspect_cpu_ms : limits.call_cpu_ms)
    return instance
  }

  #load(app: ThreadApp, cpu_ms: number): void {
    try {
      this.#turn = new Turn(cpu_ms)
      this.offer = readOffer(
        readAnswer(
          this.#machine.load(wrapScript(Buffer.from(app.code).toString()), writeSettings(app), cpu_ms),
        ),
      )
    } catch (error) {
      const details =
        error instanceof ScriptFault ? error.thrown : error instanceof AppFault ? error.error : {}
      const message = error instanceof Error ? error.message : String(error)
      throw this.end(new AppFault('load', message, details))
    }
  }

  has(method: string): boolean {
    return this.offer.capabilities.methods.includes(method)
  }

  get memory_bytes(): number | null {
    return this.ended ? null : this.#machine.memoryBytes()
  }

  /** Throws AppFault of the kind `setup`. */
  async setUp(): Promise<void> {
    if (!this.has('setupPlugin')) return
    try {
      await this.#call({ method: 'setupPlugin' }, this.limits.call_wall_ms)
    } catch (error) {
      const fault = error as AppFault
      throw this.end(new AppFault('setup', fault.message, { ...fault.error, may_retry: fault.may_retry }))
    }
  }

  async tearDown(): Promise<void> {
    const isNeeded = this.has('teardownPlugin') || this.alarms.size > 0
    if (this.ended || !isNeeded) return
    try {
      await this.#call({ method: 'teardownPlugin' }, this.limits.teardown_wall_ms)
    } catch (error) {
      this.#host.log('SYSTEM', 'ERROR', `teardownPlugin failed: ${(error as AppFault).message}`)
    }
  }

  /** Throws AppFault. */
  call(call: AppCall): Promise<unknown> {
    return this.#call(invocationOf(call), this.limits.call_wall_ms)
  }

  async #call(invocation: Invocation, wall_ms: number): Promise<unknown> {
    const { call_cpu_ms, event_cpu_ms } = this.limits
    const cpu_ms = invocation.method === 'composeWebhook' ? event_cpu_ms : call_cpu_ms
    const turn = new Turn(cpu_ms, allLines(), hopsOf(invocation))
    const text = await this.#run(turn, 'call', [JSON.stringify(invocation)], wall_ms)
    const answer = this.#read(text)
    return answer.result ?? null
  }

  /** One batch after the other, in order. */
  processEvents(events: readonly string[], until: number): Promise<PlainOutcome[]> {
    const process = () => this.#processBatch(events, until)
    const outcomes = this.#batches === null ? process() : this.#batches.then(process)
    const done: Promise<unknown> = outcomes.finally(() => {
      if (this.#batches === done) this.#batches = null
    })
    this.#batches = done
    return outcomes
  }

  async #processBatch(events: readonly string[], until: number): Promise<PlainOutcome[]> {
    const outcomes: PlainOutcome[] = []
    const lines = allLines()
    if (monotonicMs() >= until) return events.map(() => LATE)
    for (const text of events) {
      try {
        outcomes.push(await this.#processEvent(text, until, lines))
      } catch (error) {
        const outcome: PlainOutcome = { kind: 'failed', fault: describeFault(error) }
        outcomes.push(outcome)
        if (ENDS_BATCH.has(outcome.fault.kind)) {
          while (outcomes.length < events.length) outcomes.push(outcome)
          break
        }
      }
    }
    return outcomes
  }

  async #processEvent(text: string, until: number, lines: Lines): Promise<PlainOutcome> {
    const left_ms = until - monotonicMs()
    if (left_ms <= 0) throw new AppFault('time', 'there was no time left for it')
    const turn = new Turn(Math.min(this.limits.event_cpu_ms, left_ms), lines, hopsOfText(text), until)
    const { texts, isNested } = guestTexts(text)
    let answer: string | Promise<string>
    try {
      answer = this.#run(
        turn,
        isNested ? 'nested-event' : 'event',
        texts,
        Math.min(this.limits.call_wall_ms, left_ms),
      )
    } catch (error) {
      // Cut short because the batch had to end: its own fault only if it had a fair part of its time.
      const wasCut =
        error instanceof AppFault && error.kind === 'cpu' && left_ms < this.limits.event_cpu_ms / 4
      throw wasCut ? new AppFault('time', error.message) : error
    }
    if (typeof answer !== 'string') this.#warnOfWaiting()
    const written = typeof answer === 'string' ? answer : await answer
    return readOutcome(text, this.#read(written), written.length)
  }

  #warnOfWaiting(): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#host.log('SYSTEM', 'WARN', 'processEvent waits for something: every event behind it waits as well.')
  }

  /** What the guest answered, at once if it can. */
  #run(
    turn: Turn,
    operation: Operation,
    texts: readonly string[],
    wall_ms: number,
  ): string | Promise<string> {
    const id = ++this.#last_call
    const parked: Parked = { turn, text: null }
    this.#parked.set(id, parked)
    const answer = this.#enter(turn, operation, id, texts)
    if (answer === '{"pending":true}' && parked.text === null) return this.#wait(id, parked, turn, wall_ms)
    this.#parked.delete(id)
    return parked.text ?? answer
  }

  async #wait(id: number, parked: Parked, turn: Turn, wall_ms: number): Promise<string> {
    const waiting = new Promise<string>((resolve, reject) => Object.assign(parked, { resolve, reject }))
    const timer = setTimeout(() => {
      turn.abort()
      parked.reject?.(new AppFault('time', `it did not end within ${Math.round(wall_ms)} ms`))
    }, wall_ms)
    try {
      return await waiting
    } finally {
      clearTimeout(timer)
      this.#parked.delete(id)
    }
  }

  #settle(id: number, text: string): void {
    const parked = this.#parked.get(id)
    if (!parked) return
    parked.text = text
    parked.resolve?.(text)
  }

  /** Brings the guest something it waits for. A fault has ended the instance; the host hears of it if no call is to. */
  #deliver(turn: Turn, operation: 'answer' | 'alarm', id: number, texts: readonly string[] = []): void {
    if (this.ended) return
    try {
      this.#enter(turn, operation, id, texts)
    } catch (error) {
      const isOfACall = [...this.#parked.values()].some((parked) => parked.turn === turn)
      if (!isOfACall) this.#host.stopped(error)
    }
  }

  #enter(turn: Turn, operation: Operation, id: number, texts: readonly string[]): string {
    if (this.ended) throw new AppFault('gone', 'the app was stopped meanwhile')
    this.#turn = turn
    this.#turns.add(turn)
    const used_ms = this.engine.cpuMs()
    try {
      // Past its end nobody waits for it any more.
      const left_ms = turn.until - monotonicMs()
      const wall_ms = left_ms > 0 ? left_ms : Infinity
      return this.#machine.call(operation, id, texts, Math.max(1, turn.cpu_left_ms), wall_ms)
    } catch (error) {
      throw this.end(
        error instanceof MachineFault
          ? new AppFault(error.kind, error.message)
          : new AppFault('threw', (error as Error).message),
        turn,
      )
    } finally {
      turn.cpu_left_ms -= this.engine.cpuMs() - used_ms
      if (turn.requests.size === 0) this.#turns.delete(turn)
      this.#host.flushMetrics()
    }
  }

  #read(text: string): JsonObject {
    try {
      return readAnswer(text)
    } catch (error) {
      const fault = error as AppFault
      throw fault.kind === 'memory' ? this.end(fault) : fault
    }
  }

  /** Whoever waits learns that it is over, and whose turn it was why. */
  end(fault: AppFault, at_fault?: Turn): AppFault {
    if (this.ended) return fault
    this.ended = fault
    this.alarms.clearAll()
    for (const turn of this.#turns) turn.abort()
    const gone = fault.kind === 'gone' ? fault : new AppFault('gone', `the app was stopped: ${fault.message}`)
    for (const { turn, reject } of this.#parked.values()) reject?.(turn === at_fault ? fault : gone)
    this.#machine.dispose()
    this.onEnded?.()
    return fault
  }
}
