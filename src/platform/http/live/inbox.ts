// What waits for one stream. It is bounded: a client that does not keep up is cut, and resumes where it was.
import type { Connection } from './live-answer.ts'

/** The most that may wait for one stream; batches themselves are shared by all streams that ask the same. */
const MAX_WAITING_BYTES = 1024 * 1024

export type Batch = { bytes: number }

export class Inbox<Kind extends Batch> {
  #waiting: Kind[] = []
  #bytes = 0
  #error: Error | null = null
  #wake: () => void = () => undefined

  constructor(private readonly connection: Connection) {
    connection.signal.addEventListener('abort', () => this.#end(), { once: true })
  }

  /** One batch may be larger than what fits, if nothing else waits. */
  put(batch: Kind): void {
    if (this.connection.signal.aborted) return
    if (this.#waiting.length > 0 && this.#bytes + batch.bytes > MAX_WAITING_BYTES) {
      this.connection.cut()
      return
    }
    this.#waiting.push(batch)
    this.#bytes += batch.bytes
    this.#wake()
  }

  /** Thrown to whoever takes, behind what waits. */
  fail(error: Error): void {
    this.#error ??= error
    this.#wake()
  }

  /** Until the stream ends. */
  async *batches(): AsyncGenerator<Kind> {
    while (!this.connection.signal.aborted) {
      const batch = this.#waiting.shift()
      if (batch) {
        this.#bytes -= batch.bytes
        yield batch
      } else if (this.#error) throw this.#error
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #end(): void {
    this.#waiting = []
    this.#wake()
  }
}
