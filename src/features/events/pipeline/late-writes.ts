// Requests that others do not wait for: large ones, as a few kilobytes about somebody of whom much is known are stored as a
// hundred megabytes; and those with events that files may have already, where it takes long to look. They are written a part
// at a time, beside the batches of everybody else.
import { Room, type Reservation } from '../../../lib/room.ts'
import { SharedQueue } from '../../../lib/shared-queue.ts'
import {
  StoreBusy,
  type LookedUp,
  type ProjectWrite,
  type StoredEvent,
} from '../../../platform/event-store/event-store.ts'
import { Unfolded } from './unfolded.ts'
import {
  cutEvents,
  MAX_TEXT_AT_ONCE,
  orderKey,
  textOf,
  writesOf,
  type StoredRequest,
} from './split-by-text.ts'

/** Characters that may wait, and the share of one address: one request may have more than its share. */
const MAX_TEXT_WAITING = 256 * 1024 * 1024
const SHARE_OF_ADDRESS = 1 / 2
/** An event without text counts as so many characters: it takes room and time as well. */
const LEAST_TEXT = 2_000

export type LateOptions = {
  lookUp(project_id: number, events: readonly StoredEvent[]): Promise<LookedUp>
  /** `count` says how many events these were before those that are stored already were left out. */
  write(writes: readonly ProjectWrite[], count: number): Promise<void>
  /** The project's events are where questions read them. */
  caughtUp(project_id: number): Promise<void>
}

/** How many events were not written, and why. Those that were are known when the request is sent again. */
export type Outcome = { left: number; error: unknown }

type Job = {
  reservation: Reservation | null
  left: number
  is_over: boolean
  settle(outcome: Outcome): void
}
type Part = { events: StoredEvent[]; text: number; job: Job }
type Sender = Pick<StoredRequest, 'project_id' | 'address'>
/** What one sender writes with one commit. */
type Turn = StoredRequest & { count: number; done(): void; fail(error: unknown): void }

export class LateWrites {
  readonly #options: LateOptions
  readonly #queue = new SharedQueue<Turn>()
  readonly #room = new Room({ events: Infinity, bytes: MAX_TEXT_WAITING })
  /** What waits, by sender: each is at one part at a time, so its events stay in their order. */
  readonly #waiting = new Map<string, Part[]>()
  readonly #senders = new Set<Promise<void>>()
  readonly #unfolded: Unfolded
  #is_writing = false

  constructor(options: LateOptions) {
    this.#options = options
    this.#unfolded = new Unfolded((project_id) => options.caughtUp(project_id))
  }

  /** Whether something waits that comes before this request. */
  has(request: Sender): boolean {
    return this.#waiting.has(orderKey(request))
  }

  write({ project_id, address, events }: StoredRequest): Promise<Outcome> {
    const left = events.length
    if (left === 0) return Promise.resolve({ left, error: null })
    const parts = cutEvents(events, MAX_TEXT_AT_ONCE, weigh)
    // What apps and imports bring waits for room elsewhere.
    const reservation = address === null ? null : this.#reserve(address, sum(parts))
    if (address !== null && !reservation)
      return Promise.resolve({ left, error: new StoreBusy('too many late events are waiting') })
    return new Promise((settle) => {
      const job: Job = { reservation, left, is_over: false, settle }
      this.#enqueue(
        { project_id, address },
        parts.map((part) => ({ ...part, job })),
      )
    })
  }

  /** What waits is still written. */
  async close(): Promise<void> {
    await Promise.all(this.#senders)
  }

  #reserve(address: string, text: number): Reservation | null {
    return this.#room.take([{ name: address, share: SHARE_OF_ADDRESS }], { events: 0, bytes: text })
  }

  #enqueue(sender: Sender, parts: readonly Part[]): void {
    const key = orderKey(sender)
    const waiting = this.#waiting.get(key)
    if (waiting) return void waiting.push(...parts)
    this.#waiting.set(key, [...parts])
    const working = this.#workOff(sender).finally(() => this.#senders.delete(working))
    this.#senders.add(working)
  }

  async #workOff(sender: Sender): Promise<void> {
    const key = orderKey(sender)
    const waiting = this.#waiting.get(key)!
    for (let parts = takeParts(waiting); parts.length > 0; parts = takeParts(waiting)) {
      const error = await this.#writeParts(sender, parts)
      for (const part of parts) settlePart(part, error)
    }
    this.#waiting.delete(key)
  }

  /** Gives what kept it from being written; null when nothing did. */
  async #writeParts(sender: Sender, parts: readonly Part[]): Promise<unknown> {
    let looked_up: LookedUp | null = null
    try {
      await this.#unfolded.waitForRoom(sender.project_id)
      const events = parts.flatMap((part) => part.events)
      looked_up = await this.#options.lookUp(sender.project_id, events)
      await this.#commit(sender, looked_up.events, events.length)
      return null
    } catch (error) {
      return error
    } finally {
      looked_up?.end()
    }
  }

  #commit({ project_id, address }: Sender, events: readonly StoredEvent[], count: number): Promise<void> {
    const text = events.reduce((total, event) => total + weigh(event), 0)
    const by_project = `project ${project_id}`
    const by_address = address === null ? by_project : `address ${address}`
    return new Promise((done, fail) => {
      const turn = { project_id, address, events: [...events], text, count, done, fail }
      this.#queue.push(turn, [by_address, by_project], text)
      if (!this.#is_writing) void this.#writeTurns()
    })
  }

  /** One commit at a time: a batch waits for one at most. */
  async #writeTurns(): Promise<void> {
    this.#is_writing = true
    for (let turns = this.#takeTurns(); turns.length > 0; turns = this.#takeTurns()) {
      const count = turns.reduce((total, turn) => total + turn.count, 0)
      const writes = writesOf(turns.filter(({ events }) => events.length > 0))
      try {
        await this.#options.write(writes, count)
        for (const { project_id, text, done } of turns) {
          this.#unfolded.add(project_id, text)
          done()
        }
      } catch (error) {
        for (const { fail } of turns) fail(error)
      }
    }
    this.#is_writing = false
  }

  /** As much as one commit takes: many senders that are late are not to wait for a commit of each. */
  #takeTurns(): Turn[] {
    const turns: Turn[] = []
    let room = MAX_TEXT_AT_ONCE
    const next = () => this.#queue.shift(({ text }) => turns.length === 0 || text <= room)
    for (let turn = next(); turn; turn = next()) {
      turns.push(turn)
      room -= turn.text
    }
    return turns
  }
}

/** The first ones, as much as one commit takes. Those of a request that failed are left out. */
function takeParts(waiting: Part[]): Part[] {
  const parts: Part[] = []
  let room = MAX_TEXT_AT_ONCE
  while (waiting.length > 0) {
    const [next] = waiting
    if (parts.length > 0 && next!.text > room) break
    waiting.shift()
    if (next!.job.is_over) continue
    parts.push(next!)
    room -= next!.text
  }
  return parts
}

function settlePart({ job, events }: Part, error: unknown): void {
  if (job.is_over) return
  if (error === null) job.left -= events.length
  if (error === null && job.left > 0) return
  job.is_over = true
  job.reservation?.leave()
  job.settle({ left: job.left, error })
}

const weigh = (event: StoredEvent) => Math.max(textOf(event), LEAST_TEXT)

const sum = (parts: readonly Pick<Part, 'text'>[]) => parts.reduce((total, { text }) => total + text, 0)
