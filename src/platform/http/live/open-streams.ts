// All streams that are open: how many there may be, and a clockwork for all of them that keeps, checks and ends them.
import type { Readable } from 'node:stream'
import { ApiError } from '../errors.ts'
import { OpenStream, type AskedStream } from './open-stream.ts'

export type StreamLimits = { server: number; organization: number; project: number; caller: number }

export const STREAM_LIMITS: StreamLimits = { server: 1_000, organization: 250, project: 200, caller: 20 }

const TICK_MS = 1_000
const RETRY_AFTER_S = '10'

export class OpenStreams {
  readonly #open = new Set<OpenStream>()
  #timer: NodeJS.Timeout | null = null
  #is_checking = false
  #is_closing = false

  constructor(
    private readonly now: () => Date,
    private readonly limits = STREAM_LIMITS,
  ) {}

  /** The text of a new stream. Throws 429 or 503 when there are too many. */
  open(asked: AskedStream): Readable {
    this.#assertRoom(asked)
    const stream = new OpenStream(asked, this.now())
    this.#open.add(stream)
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS)
    stream.text.once('close', () => {
      this.#open.delete(stream)
      if (this.#open.size === 0) this.#stop()
    })
    return stream.text
  }

  /** How many are open, by route. */
  count(): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { asked } of this.#open) counts[asked.route] = (counts[asked.route] ?? 0) + 1
    return counts
  }

  /** All of them end at once, and no other is opened. */
  close(): void {
    this.#is_closing = true
    for (const stream of this.#open) stream.end()
  }

  #assertRoom({ caller, project_id, organization }: AskedStream): void {
    const { server, organization: shared, project, caller: own } = this.limits
    if (this.#is_closing || this.#open.size >= server) {
      const detail = 'The server has too many streams open: try again shortly.'
      throw new ApiError('too_many_connections', detail, null, { 'retry-after': RETRY_AFTER_S })
    }
    const open = [...this.#open].map(({ asked }) => asked)
    if (open.filter((other) => other.caller === caller).length >= own) {
      throw tooMany(`You have ${own} streams open: close one first.`)
    }
    if (open.filter((other) => other.project_id === project_id).length >= project) {
      throw tooMany(`The project has ${project} streams open: try again shortly.`)
    }
    if (open.filter((other) => other.organization === organization).length >= shared) {
      throw tooMany(`The organization has ${shared} streams open: try again shortly.`)
    }
  }

  #tick(): void {
    const now = this.now()
    for (const stream of this.#open) stream.live(now)
    if (!this.#is_checking) void this.#checkDue()
  }

  /** One after another: a thousand streams must not take all connections of the database. */
  async #checkDue(): Promise<void> {
    this.#is_checking = true
    for (const stream of this.#open) {
      const now = this.now()
      if (stream.isCheckDue(now)) await stream.check(now)
    }
    this.#is_checking = false
  }

  #stop(): void {
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
  }
}

function tooMany(detail: string): ApiError {
  return new ApiError('too_many_streams', detail, null, { 'retry-after': RETRY_AFTER_S })
}
