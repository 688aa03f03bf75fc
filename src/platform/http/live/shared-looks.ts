// Looks at a store every second or so, on behalf of all streams that ask the same: a hundred of them cost what one does,
// and none costs nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../log/log.ts'
import { ApiError } from '../errors.ts'
import { Inbox, type Batch } from './inbox.ts'
import type { Connection } from './live-answer.ts'

/** Something that is looked at again and again. */
export type Looked<Kind extends Batch> = {
  tick_ms: number
  /** Looks of one line are taken one after another. */
  line?: string
  /** What is new since the last look; null when nothing is. A failed one is repeated, and must lose nothing. */
  look(): Promise<Kind | null>
}

type Circle = { looked: Looked<Batch>; inboxes: Set<Inbox<Batch>> }

/** A store that is away for a moment ends no stream. */
const MAX_FAILURES = 10

export class SharedLooks {
  readonly #circles = new Map<string, Circle>()
  readonly #lines = new Map<string, Promise<unknown>>()

  constructor(private readonly log: Log) {}

  /** `open` is called for the first who comes; those with the same key share what it makes. */
  join<Kind extends Batch, Thing extends Looked<Kind>>(
    key: string,
    connection: Connection,
    open: () => Thing,
  ): { looked: Thing; inbox: Inbox<Kind> } {
    const circle = this.#circles.get(key) ?? this.#begin(key, open())
    const inbox = new Inbox<Kind>(connection)
    const member = inbox as unknown as Inbox<Batch>
    circle.inboxes.add(member)
    connection.signal.addEventListener('abort', () => circle.inboxes.delete(member), { once: true })
    return { looked: circle.looked as unknown as Thing, inbox }
  }

  /** Things that are looked at. */
  get count(): number {
    return this.#circles.size
  }

  #begin(key: string, looked: Looked<Batch>): Circle {
    const circle: Circle = { looked, inboxes: new Set() }
    this.#circles.set(key, circle)
    void this.#lookOn(key, circle)
    return circle
  }

  async #inLine(looked: Looked<Batch>): Promise<Batch | null> {
    const { line } = looked
    if (line === undefined) return looked.look()
    const look = (this.#lines.get(line) ?? Promise.resolve()).then(() => looked.look())
    const settled = look.catch(() => undefined)
    this.#lines.set(line, settled)
    try {
      return await look
    } finally {
      if (this.#lines.get(line) === settled) this.#lines.delete(line)
    }
  }

  async #lookOn(key: string, { looked, inboxes }: Circle): Promise<void> {
    let failures = 0
    let pause_ms = looked.tick_ms
    for (;;) {
      await sleep(pause_ms)
      if (inboxes.size === 0) break
      const begun = performance.now()
      try {
        const batch = await this.#inLine(looked)
        failures = 0
        if (batch) for (const inbox of inboxes) inbox.put(batch)
      } catch (error) {
        failures++
        if (isFinal(error) || failures === MAX_FAILURES) {
          for (const inbox of inboxes) inbox.fail(error as Error)
          break
        }
        this.log.warn({ err: error }, 'streams: a temporary fault')
      }
      // Whatever takes long is done half of the time at most.
      pause_ms = Math.max(looked.tick_ms, performance.now() - begun)
    }
    this.#circles.delete(key)
  }
}

/** The question is at fault, or too much for the store: asking again does not help. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && (error.status < 500 || error.code === 'query_timeout')
}
