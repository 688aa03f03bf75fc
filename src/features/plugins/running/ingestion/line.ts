// Events of one project waiting for their turn: those of all requests together, in order, in batches.
import { setTimeout as sleep } from 'node:timers/promises'

// Commits are shared by the events of a batch, and small ones cost more than apps do; but nobody waits long for the
// others of a batch where apps are slow.
const MIN_BATCH = 100
const MAX_BATCH = 1_500
const BATCH_MS = 150
/** How long a lone event waits for company. */
const COMPANY_MS = 5

type Waiting<Event> = {
  events: readonly Event[]
  /** How many were taken into batches. */
  taken: number
  kept: Event[]
  resolve(kept: readonly Event[]): void
}

export class Line<Event> {
  readonly #work: (batch: readonly Event[]) => Promise<readonly (Event | null)[]>
  readonly #queue: Waiting<Event>[] = []
  #is_working = false
  #batch = MIN_BATCH

  /** `work` gives each event as it became, or null; it never throws. */
  constructor(work: (batch: readonly Event[]) => Promise<readonly (Event | null)[]>) {
    this.#work = work
  }

  /** What is left of them. */
  add(events: readonly Event[]): Promise<readonly Event[]> {
    return new Promise((resolve) => {
      this.#queue.push({ events, taken: 0, kept: [], resolve })
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
    const parts: { of: Waiting<Event>; events: readonly Event[] }[] = []
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
      of.kept.push(...outcomes.slice(at, at + events.length).filter((event) => event !== null))
      at += events.length
      if (of.taken < of.events.length) continue
      this.#queue.shift()
      of.resolve(of.kept)
    }
  }

  async #workTimed(batch: readonly Event[]): Promise<readonly (Event | null)[]> {
    const began = performance.now()
    const outcomes = await this.#work(batch)
    const in_time = (BATCH_MS * batch.length) / (performance.now() - began)
    this.#batch = Math.min(MAX_BATCH, Math.max(MIN_BATCH, Math.floor(in_time)))
    return outcomes
  }
}
