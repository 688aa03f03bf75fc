// The events of one project on their way to one function of one config. They go page by page behind a durable cursor, which
// only passes what is done or waits to be tried again; that is tried beside, and holds nothing up.
import type { Lease } from '../running/lease-queries.ts'
import type { RunningApp } from '../running/running-app.ts'
import { attempt, type Tools } from './attempt.ts'
import { isOwnEvent } from './event-forms.ts'
import { handOver, type Settled } from './hand-over.ts'
import { METHOD_RULES, type MethodRules } from './methods.ts'
import { moveCursor, openCursor, type NewRetry, type StreamKey } from './queries.ts'
import { Retries } from './retries.ts'
import type { Slots } from './slots.ts'
import { readPage, type Page, type StoredEvent } from './stored-events.ts'
import { explainUnreadable, wantedBy } from './wanted-events.ts'

/** An endpoint that is down is not offered more than this: the rest waits behind the cursor. */
const MAX_WAITING = 1_000
/** After something that has nothing to do with a single event: the app is not to be called, a store does not answer. */
const PAUSE_MS = 2_000

/** Where a page is worked on, whose turn it is, and for how long. */
export type PageSlots = { slots: Slots; organization_id: string; turn_ms: number }

export class Stream {
  readonly lease: Lease
  readonly #tools: Tools
  readonly #key: StreamKey
  readonly #slots: PageSlots
  readonly #rules: MethodRules
  readonly #retries: Retries
  #cursor: number | null = null
  #advancing: Promise<void> | null = null
  #retrying: Promise<void> | null = null
  #paused_until = 0
  /** Since when a batch that is not full waits for more. */
  #gathering_since: number | null = null
  /** What was said last about filters that cannot be used. */
  #complaint: string | null = null

  constructor(tools: Tools, key: StreamKey, slots: PageSlots, lease: Lease) {
    this.lease = lease
    this.#tools = tools
    this.#key = key
    this.#slots = slots
    this.#rules = METHOD_RULES[key.method]
    this.#retries = new Retries(tools, key, lease, () => this.#app())
  }

  get is_busy(): boolean {
    return this.#advancing !== null || this.#retrying !== null
  }

  /** Begins what there is to do; `last` is the project's last position. */
  wake(last: number): void {
    if (this.#isPaused()) return
    if (this.#cursor === null || (this.#cursor < last && this.#retries.count < MAX_WAITING)) {
      this.#advancing ??= this.#quietly(this.#advance(last)).finally(() => (this.#advancing = null))
    }
    if (this.#retries.isDue()) {
      this.#retrying ??= this.#quietly(this.#retry()).finally(() => (this.#retrying = null))
    }
  }

  async settled(): Promise<void> {
    await Promise.all([this.#advancing, this.#retrying])
  }

  async #advance(last: number): Promise<void> {
    // A config that is seen for the first time gets what is stored from now on.
    if (this.#cursor === null) {
      await this.#retries.recount()
      this.#cursor = await openCursor(this.#tools.services.db, this.#key, last)
    }
    let goes_on = this.#cursor !== null
    while (goes_on && this.#cursor! < last && this.#retries.count < MAX_WAITING) {
      goes_on = await this.#inTurn(() => this.#nextPage(this.#cursor!, last))
    }
  }

  #inTurn(work: () => Promise<boolean>): Promise<boolean> {
    const { slots, organization_id } = this.#slots
    return slots.within(organization_id, work)
  }

  /** Whether there is sense in going on at once. */
  async #nextPage(from: number, last: number): Promise<boolean> {
    const app = this.#app()
    const page = app && (await this.#read(app, from, last))
    if (!app || !page) return false
    const events = page.events.filter((event) => !isOwnEvent(app.config_id, event))
    const isLast = page.to === last && !page.is_full
    if (isLast && events.length > 0 && this.#isGathering()) return false
    const parcels = this.#parcelsOf(events)
    const end = performance.now() + this.#slots.turn_ms
    let begun = 0
    const isOver = () => begun > 0 && performance.now() >= end
    const outcomes = await handOver(
      parcels,
      this.#rules.in_flight,
      () => this.#app() !== undefined && !isOver(),
      (parcel) => {
        begun++
        return this.#attempt(parcel)
      },
    )
    const isWhole = outcomes.length === parcels.length
    const reached = isWhole ? page.to : (parcels[outcomes.length - 1]?.at(-1)?.seq ?? from)
    await this.#commit(reached, this.#retriesAmong(parcels, outcomes))
    // The rest of a page comes with the next turn.
    const goes_on = isWhole || (outcomes.length > 0 && isOver())
    if (!goes_on) this.#pause()
    return goes_on
  }

  /** Null when the filters cannot be used. */
  async #read(app: RunningApp, from: number, last: number): Promise<Page | null> {
    const { services } = this.#tools
    const { max_events, max_bytes } = this.#rules
    try {
      const wanted = await wantedBy(services, app)
      const now = services.now()
      const page = await readPage(services.eventStore, { ...wanted, from, last, max_events, max_bytes, now })
      this.#complaint = null
      return page
    } catch (error) {
      const complaint = explainUnreadable(error)
      if (complaint === null) throw error
      if (complaint !== this.#complaint) this.#tools.logs.add(app, 'SYSTEM', 'ERROR', complaint)
      this.#complaint = complaint
      this.#pause()
      return null
    }
  }

  /** It is looked at again after a while, for it may be full by then. */
  #isGathering(): boolean {
    const now = this.#tools.services.now().getTime()
    this.#gathering_since = Math.min(this.#gathering_since ?? now, now)
    const left_ms = this.#rules.gather_ms - (now - this.#gathering_since)
    if (left_ms > 0) this.#pause(Math.min(left_ms, PAUSE_MS))
    return left_ms > 0
  }

  #parcelsOf(events: readonly StoredEvent[]): (readonly StoredEvent[])[] {
    if (this.#key.method !== 'exportEvents') return events.map((event) => [event])
    return events.length > 0 ? [events] : []
  }

  async #attempt(events: readonly StoredEvent[]) {
    const app = this.#app()
    if (!app) return { kind: 'later' } as const
    return await attempt(this.#tools, app, this.#key.method, { events, request: null, attempt: 1 })
  }

  #retriesAmong(parcels: readonly (readonly StoredEvent[])[], outcomes: readonly Settled[]): NewRetry[] {
    return outcomes.flatMap((outcome, index) =>
      outcome.kind === 'again' ? [this.#retries.prepare(parcels[index]!, outcome)] : [],
    )
  }

  async #commit(cursor: number, retries: readonly NewRetry[]): Promise<void> {
    if (cursor === this.#cursor) return
    const { services, leases } = this.#tools
    await services.db.transaction(async (tx) => {
      await leases.assert(tx, this.lease)
      // Without a row the config was deleted meanwhile.
      if (await moveCursor(tx, this.#key, cursor)) await this.#retries.insert(tx, retries)
    })
    this.#cursor = cursor
    this.#gathering_since = null
    if (retries.length > 0) await this.#retries.recount()
  }

  async #retry(): Promise<void> {
    let goes_on = true
    while (goes_on) goes_on = await this.#inTurn(() => this.#retries.tryDue())
    await this.#retries.recount()
  }

  /** The app as it is now, if it is still to get events. */
  #app(): RunningApp | undefined {
    const { config_id, project_id, method } = this.#key
    const { apps, leases, is_closing } = this.#tools
    if (is_closing() || leases.of(project_id) !== this.lease) return undefined
    const app = apps.current(config_id)
    return app?.methods.has(method) ? app : undefined
  }

  #isPaused(): boolean {
    const left_ms = this.#paused_until - this.#tools.services.now().getTime()
    // More than that is left only when the clock was set back.
    return left_ms > 0 && left_ms <= PAUSE_MS
  }

  #pause(pause_ms = PAUSE_MS): void {
    this.#paused_until = this.#tools.services.now().getTime() + pause_ms
  }

  async #quietly(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      this.#tools.services.log.warn({ err: error, ...this.#key }, 'plugins: a delivery was interrupted')
      this.#pause()
    }
  }
}
