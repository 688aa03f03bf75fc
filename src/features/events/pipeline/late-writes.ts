// Large requests are written a part at a time, beside the batches of everybody else: a few kilobytes about somebody of whom
// much is known are stored as a hundred megabytes, and nobody waits for more than a part of a stranger's.
import { Room, type Reservation } from '../../../lib/room.ts'
import { SharedQueue } from '../../../lib/shared-queue.ts'
import { StoreBusy, type ProjectWrite, type Written } from '../../../platform/event-store/event-store.ts'
import { cutEvents, NO_COPIES, orderKey, type StoredRequest } from './split-by-text.ts'

/** Characters that may wait, and the share of one address: one request may have more than its share. */
const MAX_TEXT_WAITING = 256 * 1024 * 1024
const SHARE_OF_ADDRESS = 1 / 4
/** After so many of a project its writes wait until they are folded: the journal is everybody's, and is not to fill up with them. */
const MAX_TEXT_UNFOLDED = 32 * 1024 * 1024

export type LateOptions = {
  write(writes: readonly ProjectWrite[]): Promise<Written[]>
  /** The project's events are where questions read them. */
  caughtUp(project_id: number): Promise<void>
}

type Job = {
  request: StoredRequest
  reservation: Reservation | null
  parts_left: number
  written: Written[]
  is_over: boolean
  resolve(written: Written[]): void
  reject(error: unknown): void
}
type Part = Pick<StoredRequest, 'events' | 'text'> & { job: Job }

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

  /** Throws StoreBusy when too much is waiting already. Should a part fail, those before it are known when it is sent again. */
  write(request: StoredRequest): Promise<Written[]> {
    const reservation = this.#reserve(request)
    const { project_id, address, events } = request
    const parts = cutEvents(events)
    const by_project = `project ${project_id}`
    const by_address = address === null ? by_project : `address ${address}`
    return new Promise((resolve, reject) => {
      const job: Job = {
        request,
        reservation,
        parts_left: parts.length,
        written: [],
        is_over: false,
        resolve,
        reject,
      }
      this.#count(request, 1)
      for (const part of parts) this.#queue.push({ ...part, job }, [by_address, by_project], part.text)
      this.#working ??= this.#work()
    })
  }

  /** What waits is still written. */
  async close(): Promise<void> {
    await this.#working
  }

  /** What apps and imports bring waits for room elsewhere. */
  #reserve({ address, text }: StoredRequest): Reservation | null {
    if (address === null) return null
    const reservation = this.#room.take([{ name: address, share: SHARE_OF_ADDRESS }], {
      events: 0,
      bytes: text,
    })
    if (reservation) return reservation
    throw new StoreBusy('too many long events are waiting')
  }

  async #work(): Promise<void> {
    for (let part = this.#queue.shift(); part; part = this.#queue.shift()) {
      if (!part.job.is_over) await this.#writePart(part)
    }
    this.#working = null
  }

  async #writePart({ job, events, text }: Part): Promise<void> {
    const { project_id } = job.request
    try {
      job.written.push(...(await this.#options.write([{ project_id, events, ...NO_COPIES }])))
      job.parts_left -= 1
      if (job.parts_left === 0) this.#end(job, () => job.resolve(job.written))
    } catch (error) {
      this.#end(job, () => job.reject(error))
    }
    await this.#waitForFold(project_id, text)
  }

  async #waitForFold(project_id: number, text: number): Promise<void> {
    const unfolded = (this.#unfolded.get(project_id) ?? 0) + text
    if (unfolded < MAX_TEXT_UNFOLDED) return void this.#unfolded.set(project_id, unfolded)
    this.#unfolded.delete(project_id)
    // What cannot be folded now is in the journal.
    await this.#options.caughtUp(project_id).catch(() => undefined)
  }

  #end(job: Job, settle: () => void): void {
    job.is_over = true
    job.reservation?.leave()
    this.#count(job.request, -1)
    settle()
  }

  #count(request: StoredRequest, change: 1 | -1): void {
    const key = orderKey(request)
    const waiting = (this.#waiting.get(key) ?? 0) + change
    if (waiting === 0) this.#waiting.delete(key)
    else this.#waiting.set(key, waiting)
  }
}
