// One stream that is open: its messages become text as fast as the client fetches it, with a sign of life now and then.
import { Readable } from 'node:stream'
import { toApiError } from '../errors.ts'
import type { LiveAnswer } from './live-answer.ts'
import { message, messageText, positionText, type Message } from './message.ts'

export type AskedStream = LiveAnswer & {
  caller: string
  /** That the project belongs to. */
  organization: string
  /** As it was declared. */
  route: string
  /** Throws when the caller has lost the right to it. */
  check(): Promise<unknown>
  onFault(error: unknown): void
}

const LIFETIME_MS = 10 * 60_000
const SIGN_OF_LIFE_MS = 15_000
const CHECK_MS = 4_000
/** Who cannot be checked for so long, because a store is away, is not let go on. */
const UNCHECKED_MS = 30_000
/** How long a client may take to fetch the end. */
const FAREWELL_MS = 1_000
/** Text that waits for the client besides what the connection itself holds. */
const BUFFER_BYTES = 64 * 1024
/** How long clients wait before they open it again; and the first bytes, which send the headers off. */
const GREETING = 'retry: 2000\n\n'

export class OpenStream {
  readonly asked: AskedStream
  readonly text: Readable
  readonly #opened_at: Date
  readonly #ended = new AbortController()
  #checked_at: Date
  /** The same, by a clock that nobody sets. */
  #checked_ms = performance.now()
  #alive_at: Date
  /** Up to which everything was handed over, and what the client was told of it. */
  #position: number | null = null
  #told: number | null = null
  #onRoom: () => void = () => undefined

  constructor(asked: AskedStream, now: Date) {
    this.asked = asked
    this.#opened_at = this.#checked_at = this.#alive_at = now
    this.text = new Readable({ highWaterMark: BUFFER_BYTES, encoding: 'utf8', read: () => this.#onRoom() })
    // Also when the client has gone.
    this.text.once('close', () => this.#ended.abort())
    this.#ended.signal.addEventListener('abort', () => this.#onRoom(), { once: true })
    this.text.push(GREETING)
    void this.#pump()
  }

  get is_over(): boolean {
    return this.#ended.signal.aborted
  }

  isCheckDue(now: Date): boolean {
    return !this.is_over && isDue(this.#checked_at, CHECK_MS, now)
  }

  /** The same checks as those that let the caller in. */
  async check(now: Date): Promise<void> {
    try {
      await this.asked.check()
      this.#checked_at = now
      this.#checked_ms = performance.now()
    } catch (error) {
      this.#endBy(error)
    }
  }

  /** Called every second. */
  live(now: Date): void {
    const isUnchecked = performance.now() - this.#checked_ms > UNCHECKED_MS
    if (isUnchecked || isDue(this.#opened_at, LIFETIME_MS, now)) this.end()
    else if (isDue(this.#alive_at, SIGN_OF_LIFE_MS, now)) this.#signOfLife(now)
  }

  /** `last` is told if the client fetches it soon. */
  end(last?: Message): void {
    if (this.is_over) return
    if (last) this.text.push(messageText(last))
    this.text.push(null)
    this.#ended.abort()
    setTimeout(() => this.text.destroy(), FAREWELL_MS).unref()
  }

  /** A client that still has something to fetch needs none. */
  #signOfLife(now: Date): void {
    this.#alive_at = now
    if (this.is_over || this.text.readableLength > 0) return
    const isNew = this.#position !== null && this.#position !== this.#told
    this.text.push(isNew ? positionText(this.#position!) : ':\n\n')
    this.#told = this.#position
  }

  async #pump(): Promise<void> {
    const connection = {
      signal: this.#ended.signal,
      at: (position: number) => void (this.#position = position),
      cut: () => void this.text.destroy(),
    }
    try {
      for await (const each of this.asked.messages(connection)) {
        if (this.is_over) return
        if (!this.text.push(messageText(each))) await this.#room()
        if (each.id !== undefined) this.#told = each.id
      }
      this.end()
    } catch (error) {
      this.#endBy(error)
    }
  }

  async #room(): Promise<void> {
    if (!this.is_over) await new Promise<void>((resolve) => (this.#onRoom = resolve))
  }

  #endBy(error: unknown): void {
    const told = toApiError(error)
    if (told.status >= 500 && told !== error) this.asked.onFault(error)
    this.end(message('end', { reason: 'error', ...told.body() }))
  }
}

/** Also when the clock was set back. */
function isDue(since: Date, after_ms: number, now: Date): boolean {
  const passed_ms = now.getTime() - since.getTime()
  return passed_ms < 0 || passed_ms >= after_ms
}
