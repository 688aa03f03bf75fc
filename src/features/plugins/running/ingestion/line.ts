// Events of one project waiting for their turn: those of all requests together, in order, in batches.
import { setTimeout as sleep } from 'node:timers/promises'

// Commits are shared by the events of a batch, and small ones cost more than apps do; but nobody waits long for the
// others of a batch where apps are slow.
const MIN_BATCH = 100
const MAX_BATCH = 1_500
const BATCH_MS = 150
/** How long a lone event waits for company. */
const COMPANY_MS = 5

type Waiting<Event, Outcome> = {
  events: readonly Event[]
  /** How many were taken into batches. */
  taken: number
  outcomes: Outcome[]
  resolve(outcomes: readonly Outcome[]): void
}

export class Line<Event, Outcome> {
  readonly #work: (batch: readonly Event[]) => Promise<readonly Outcome[]>
  readonly #queue: Waiting<Event, Outcome>[] = []
  #is_working = false
  #batch = MIN_BATCH

  /** `work` says of each event what became of it; it never throws. */
  constructor(work: (batch: readonly Event[]) => Promise<readonly Outcome[]>) {
    this.#work = work
  }

  /** What became of each. */
  add(events: readonly Event[]): Promise<readonly Outcome[]> {
    return new Promise((resolve) => {
      this.#queue.push({ events, taken: 0, outcomes: [], resolve })
      if (!this.#is_working) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#is_working = true
    // While a batch is worked on, company gathers by itself.
    if (this.#queue[0]!.events.length < this.#batch) await sleep(COMPANY_MS)
    while (this.#queue.length > 0) await this.#nextBatch()
    this.#is_working = false
  }

  async #nextBatch(): Promise<void> {
    const parts: { of: Waiting<Event, Outcome>; events: readonly Event[] }[] = []
    let room = this.#batch
    for (const of of this.#queue) {
      if (room === 0) break
      const events = of.events.slice(of.taken, of.taken + room)
      of.taken += events.length
      room -= events.length
      parts.push({ of, events })
    }
    const outcomes = await this.#workTimed(parts.flatMap(({ events }) => events))
    let at = 0
    for (const { of, events } of parts) {
      of.outcomes.push(...outcomes.slice(at, at + events.length))
      at += events.length
      if (of.taken < of.events.length) continue
      this.#queue.shift()
      of.resolve(of.outcomes)
    }
  }

  async #workTimed(batch: readonly Event[]): Promise<readonly Outcome[]> {
    const began = performance.now()
    const outcomes = await this.#work(batch)
    const in_time = (BATCH_MS * batch.length) / (performance.now() - began)
    this.#batch = Math.min(MAX_BATCH, Math.max(MIN_BATCH, Math.floor(in_time)))
    return outcomes
  }
}
