// What one stream tries again: a webhook as it was composed, everything else with the app as it is by then.
import { uuid7 } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { Lease } from '../running/lease-queries.ts'
import type { RunningApp } from '../running/running-app.ts'
import { attempt, type Outcome, type Tools } from './attempt.ts'
import { METHOD_RULES } from './methods.ts'
import {
  countRetries,
  deleteRetry,
  insertRetries,
  listDueRetries,
  updateRetry,
  type NewRetry,
  type RetryRow,
  type StreamKey,
  type Waiting,
} from './queries.ts'
import { readEvents, type StoredEvent } from './stored-events.ts'
import type { WebhookRequest } from './webhook.ts'

/** Retries that could not even be tried wait this long. */
const PAUSE_MS = 2_000

export class Retries {
  readonly #tools: Tools
  readonly #key: StreamKey
  readonly #lease: Lease
  readonly #app: () => RunningApp | undefined
  #waiting: Waiting = { count: 0, next_due_at: null }
  #recounts = 0

  constructor(tools: Tools, key: StreamKey, lease: Lease, app: () => RunningApp | undefined) {
    this.#tools = tools
    this.#key = key
    this.#lease = lease
    this.#app = app
  }

  get count(): number {
    return this.#waiting.count
  }

  isDue(): boolean {
    const { next_due_at } = this.#waiting
    return next_due_at !== null && next_due_at <= this.#tools.services.now()
  }

  /** When several run at once, the one that began last has seen everything. */
  async recount(): Promise<void> {
    const turn = ++this.#recounts
    const waiting = await countRetries(this.#tools.services.db, this.#key)
    if (turn === this.#recounts) this.#waiting = waiting
  }

  prepare(
    events: readonly StoredEvent[],
    { due_at, request }: Extract<Outcome, { kind: 'again' }>,
  ): NewRetry {
    const id = uuid7(this.#tools.services.now())
    return { id, seqs: events.map(({ seq }) => seq), request: this.#seal(id, request), due_at }
  }

  async insert(tx: Db, retries: readonly NewRetry[]): Promise<void> {
    await insertRetries(tx, this.#key, retries, this.#tools.services.now())
  }

  /** Some of those that are due; whether there may be more. */
  async tryDue(): Promise<boolean> {
    const { db, eventStore, now } = this.#tools.services
    if (!this.#app()) return false
    const rows = await listDueRetries(db, this.#key, METHOD_RULES[this.#key.method].in_flight, now())
    const seqs = rows.flatMap((row) => row.seqs)
    const events = await readEvents(eventStore, this.#key.project_id, seqs, now())
    const tried = await Promise.all(rows.map((row) => this.#try(row, events)))
    return rows.length > 0 && tried.every((was_tried) => was_tried)
  }

  async #try(row: RetryRow, found: ReadonlyMap<number, StoredEvent>): Promise<boolean> {
    const { db, now } = this.#tools.services
    const { method } = this.#key
    const app = this.#app()
    if (!app) return false
    const events = row.seqs.flatMap((seq) => found.get(seq) ?? [])
    if (events.length === 0) {
      // They were deleted, and nobody is to hear of them any more.
      await deleteRetry(db, this.#lease, row.id)
      return true
    }
    const number = row.attempt + 1
    // Written down before it is made, and the next one as if this were to fail at the last moment: whoever comes after a
    // crash neither hurries nor tries for ever.
    const isOurs = await updateRetry(db, this.#lease, { ...row, attempt: number }, this.#dueIfKilled(number))
    if (!isOurs) return false
    const parcel = { events, request: this.#open(row), attempt: number }
    const outcome = await attempt(this.#tools, app, method, parcel)
    if (outcome.kind === 'done') await deleteRetry(db, this.#lease, row.id)
    if (outcome.kind === 'later') {
      await updateRetry(db, this.#lease, row, new Date(now().getTime() + PAUSE_MS))
    }
    if (outcome.kind === 'again') {
      const request = this.#seal(row.id, outcome.request)
      await updateRetry(db, this.#lease, { ...row, request, attempt: number }, outcome.due_at)
    }
    return outcome.kind !== 'later'
  }

  #dueIfKilled(number: number): Date {
    const { waits_s, try_s } = METHOD_RULES[this.#key.method]
    const wait_s = waits_s[Math.min(number, waits_s.length) - 1]!
    return new Date(this.#tools.services.now().getTime() + (try_s + wait_s) * 1000)
  }

  #seal(id: string, request: WebhookRequest | null): string | null {
    return request && this.#tools.services.secrets.seal(JSON.stringify(request), placeOf(id))
  }

  /** One that was sealed under a key that is no more is composed anew. */
  #open({ id, request }: RetryRow): WebhookRequest | null {
    if (request === null) return null
    try {
      return JSON.parse(this.#tools.services.secrets.open(request, placeOf(id))) as WebhookRequest
    } catch {
      return null
    }
  }
}

const placeOf = (id: string) => ({ table: 'plugin_delivery_retry', row: id, column: 'request' })
