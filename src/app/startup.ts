// The steps of a start, one after the other: a long one says what it waits for, a stop ends it in the middle, and what was
// opened is closed in reverse order. Used by serve.ts.
import { withTimeout } from '../lib/with-timeout.ts'
import type { Log } from '../platform/log/log.ts'

const SAY_EVERY_MS = 5_000
/** What is being opened when a stop comes may still have to be closed; whatever takes longer ends with the process. */
const OPENING_LIMIT_MS = 10_000

/** A stop was asked for before the start was over. */
export class StartStopped extends Error {}

export class Startup {
  readonly #opened: { what: string; close(): Promise<void> }[] = []
  readonly #stopped: Promise<never>

  constructor(
    private readonly log: Log,
    signal: AbortSignal,
  ) {
    this.#stopped = new Promise((_resolve, reject) => {
      const stop = () => reject(new StartStopped('stopped during the start'))
      if (signal.aborted) stop()
      else signal.addEventListener('abort', stop, { once: true })
    })
    this.#stopped.catch(() => undefined) // a stop may come between two steps, or after the last
  }

  async step<T>(what: string, work: () => Promise<T>): Promise<T> {
    return this.#watched(what, work(), async () => undefined)
  }

  /** A step that leaves something to be closed. */
  async open<T>(what: string, work: () => Promise<T>, close: (opened: T) => Promise<void>): Promise<T> {
    const opening = work()
    const opened = await this.#watched(what, opening, async () => {
      const late = await withTimeout(opening, OPENING_LIMIT_MS, () => undefined)
      if (late !== undefined) await close(late)
    })
    this.toClose(what, () => close(opened))
    return opened
  }

  toClose(what: string, close: () => Promise<void>): void {
    this.#opened.push({ what, close })
  }

  /** What cannot be closed does not keep the others open. */
  async closeAll(): Promise<void> {
    for (const { what, close } of this.#opened.splice(0).toReversed()) {
      await close().catch((error: unknown) => this.log.warn({ err: error }, `could not close: ${what}`))
    }
  }

  async #watched<T>(what: string, work: Promise<T>, giveUp: () => Promise<void>): Promise<T> {
    const began = Date.now()
    const say = setInterval(() => {
      this.log.warn({ seconds: Math.round((Date.now() - began) / 1000) }, `the start waits for: ${what}`)
    }, SAY_EVERY_MS)
    try {
      return await Promise.race([work, this.#stopped])
    } catch (error) {
      if (!(error instanceof StartStopped)) throw error
      await giveUp().catch(() => undefined) // what is given up may well fail
      throw error
    } finally {
      clearInterval(say)
    }
  }
}
