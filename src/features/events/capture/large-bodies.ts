// Hands large bodies to a few threads. Senders take turns, and none has all of the threads at once.
import { availableParallelism } from 'node:os'
import { FairQueue } from '../../../lib/fair-queue.ts'
import { StoreBusy } from '../../../platform/event-store/event-store.ts'
import { BodyThread } from './body-thread.ts'
import type { CaptureBody, Reading, ReadLimits } from './read-capture.ts'

const MIN_THREADS = 2
const MAX_THREADS = 4

type Waiting = { sender: string; resolve(thread: BodyThread | null): void }

export class LargeBodies {
  readonly #all: readonly BodyThread[]
  readonly #free: BodyThread[]
  readonly #waiting = new FairQueue<Waiting>()
  /** Threads that a sender has now. */
  readonly #taken = new Map<string, number>()
  #isClosed = false

  constructor(threads = Math.min(MAX_THREADS, Math.max(MIN_THREADS, availableParallelism()))) {
    this.#all = Array.from({ length: threads }, () => new BodyThread())
    this.#free = [...this.#all]
  }

  /** Throws a Refusal, or StoreBusy when the thread died over it. The body's bytes are used up. */
  async read(body: CaptureBody, limits: ReadLimits, sender: string): Promise<Reading> {
    const thread = await this.#takeThread(sender, body.bytes.length)
    if (thread === null) throw new StoreBusy()
    try {
      return await thread.read(body, limits)
    } finally {
      this.#count(sender, -1)
      this.#free.push(thread)
      this.#handOut()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) next.resolve(null)
    await this.stop()
  }

  /** Ends the threads and what they are reading; the next bodies start others. */
  async stop(): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.stop()))
  }

  /** Null when it is too late. */
  #takeThread(sender: string, cost: number): Promise<BodyThread | null> {
    if (this.#isClosed) return Promise.resolve(null)
    return new Promise((resolve) => {
      this.#waiting.push({ sender, resolve }, sender, cost)
      this.#handOut()
    })
  }

  #handOut(): void {
    while (this.#free.length > 0) {
      const next = this.#waiting.shift((sender) => (this.#taken.get(sender) ?? 0) < this.#all.length - 1)
      if (!next) return
      this.#count(next.sender, 1)
      next.resolve(this.#free.pop()!)
    }
  }

  #count(sender: string, change: 1 | -1): void {
    const taken = (this.#taken.get(sender) ?? 0) + change
    if (taken === 0) this.#taken.delete(sender)
    else this.#taken.set(sender, taken)
  }
}
