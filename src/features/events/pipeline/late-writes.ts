// Large requests are written a part at a time, beside the batches of everybody else: a few kilobytes about somebody of whom
// much is known are stored as a hundred megabytes, and nobody waits for more than a part of a stranger's.
import { Room, type Reservation } from '../../../lib/room.ts'
import { SharedQueue } from '../../../lib/shared-queue.ts'
import { StoreBusy, type ProjectWrite } from '../../../platform/event-store/event-store.ts'
import { cutEvents, MAX_TEXT_AT_ONCE, orderKey, writesOf, type StoredRequest } from './split-by-text.ts'

/** Characters that may wait, and the share of one address: one request may have more than its share. */
const MAX_TEXT_WAITING = 256 * 1024 * 1024
const SHARE_OF_ADDRESS = 1 / 2
/** After so many of a project late writes wait until they are folded: the journal is everybody's, and must not fill up with them. */
const MAX_TEXT_UNFOLDED = 32 * 1024 * 1024

export type LateOptions = {
  write(writes: readonly ProjectWrite[]): Promise<void>
  /** The project's events are where questions read them. */
  caughtUp(project_id: number): Promise<void>
}

/** How many events were not written, and why. Those that were are known when the request is sent again. */
export type Outcome = { left: number; error: unknown }

type Job = {
  request: StoredRequest
  reservation: Reservation | null
  left: number
  is_over: boolean
  settle(outcome: Outcome): void
}
type Part = StoredRequest & { job: Job }

export class LateWrites {
  readonly #options: LateOptions
  readonly #queue = new SharedQueue<Part>()
  readonly #room = new Room({ events: Infinity, bytes: MAX_TEXT_WAITING })
  /** How many requests of a sender are waiting. */
  readonly #waiting = new Map<string, number>()
  readonly #unfolded = new Map<number, number>()
  #working: Promise<void> | null = null

  constructor(options: LateOptions) {
    this.#options = options
  }

  /** Whether something waits that comes before this request. */
  has(request: Pick<StoredRequest, 'project_id' | 'address'>): boolean {
    return this.#waiting.has(orderKey(request))
  }

  write(request: StoredRequest): Promise<Outcome> {
    const { project_id, address, events, text } = request
    const left = events.length
    if (left === 0) return Promise.resolve({ left, error: null })
    // What apps and imports bring waits for room elsewhere.
    const reservation = address === null ? null : this.#reserve(address, text)
    if (address !== null && !reservation)
      return Promise.resolve({ left, error: new StoreBusy('too many long events are waiting') })
    const by_project = `project ${project_id}`
    const by_address = address === null ? by_project : `address ${address}`
    return new Promise((settle) => {
      const job: Job = { request, reservation, left, is_over: false, settle }
      this.#count(request, 1)
      for (const part of cutEvents(events)) {
        this.#queue.push({ ...part, project_id, address, job }, [by_address, by_project], part.text)
      }
      this.#working ??= this.#work()
    })
  }

  /** What waits is still written. */
  async close(): Promise<void> {
    await this.#working
  }

  #reserve(address: string, text: number): Reservation | null {
    return this.#room.take([{ name: address, share: SHARE_OF_ADDRESS }], { events: 0, bytes: text })
  }

  async #work(): Promise<void> {
    for (let parts = this.#take(); parts.length > 0; parts = this.#take()) await this.#writeParts(parts)
    this.#working = null
  }

  /** As much as one commit takes: a sender of many requests that are late is not to wait for a commit of each. */
  #take(): Part[] {
    const parts: Part[] = []
    let room = MAX_TEXT_AT_ONCE
    const next = () => this.#queue.shift(({ text }) => parts.length === 0 || text <= room)
    for (let part = next(); part; part = next()) {
      if (part.job.is_over) continue
      parts.push(part)
      room -= part.text
    }
    return parts
  }

  async #writeParts(parts: readonly Part[]): Promise<void> {
    try {
      await this.#options.write(writesOf(parts))
      for (const { job, events } of parts) {
        job.left -= events.length
        if (job.left === 0) this.#end(job, null)
      }
    } catch (error) {
      for (const { job } of parts) this.#end(job, error)
    }
    for (const { project_id, text } of parts) await this.#waitForFold(project_id, text)
  }

  async #waitForFold(project_id: number, text: number): Promise<void> {
    const unfolded = (this.#unfolded.get(project_id) ?? 0) + text
    if (unfolded < MAX_TEXT_UNFOLDED) return void this.#unfolded.set(project_id, unfolded)
    this.#unfolded.delete(project_id)
    // What cannot be folded now is in the journal.
    await this.#options.caughtUp(project_id).catch(() => undefined)
  }

  #end(job: Job, error: unknown): void {
    if (job.is_over) return
    job.is_over = true
    job.reservation?.leave()
    this.#count(job.request, -1)
    job.settle({ left: job.left, error })
  }

  #count(request: StoredRequest, change: 1 | -1): void {
    const key = orderKey(request)
    const waiting = (this.#waiting.get(key) ?? 0) + change
    if (waiting === 0) this.#waiting.delete(key)
    else this.#waiting.set(key, waiting)
  }
}
