// What apps ask of the main thread, and the answers on their way back. Per app a few go at once, the others wait.
import type { FromThread, HostAnswer, HostRequest } from '../messages.ts'
import { Refusal } from './untrusted.ts'

const MAX_WAITING = 1_000
const MAX_WAITING_LENGTH = 16 * 1024 * 1024

/** All of a thread. */
export class Requests {
  readonly #waiting = new Map<number, (answer: HostAnswer) => void>()
  #last_id = 0

  constructor(private readonly post: (message: FromThread) => void) {}

  send(app_id: number, request: HostRequest, onAnswer: (answer: HostAnswer) => void): () => void {
    const request_id = ++this.#last_id
    this.#waiting.set(request_id, onAnswer)
    this.post({ kind: 'request', request_id, app_id, request })
    return () => {
      if (this.#waiting.delete(request_id)) this.post({ kind: 'abort', request_id })
    }
  }

  settle(request_id: number, answer: HostAnswer): void {
    const onAnswer = this.#waiting.get(request_id)
    this.#waiting.delete(request_id)
    onAnswer?.(answer)
  }
}

/** Lets so many through at once, and so many in a second; what is too much in the queue is refused. */
export class Gate {
  #inside = 0
  #waiting_length = 0
  readonly #queue: { start(): void; length: number }[] = []
  #opening: NodeJS.Timeout | null = null
  /** When all who came through would have, had they come evenly. */
  #even_ms = 0

  constructor(
    private readonly width: number,
    private readonly pace: { per_s: number; at_first: number } | null = null,
  ) {}

  /** `length` is what it takes to keep it waiting. */
  enter(length: number, start: () => void): void {
    const isFull = this.#queue.length >= MAX_WAITING || this.#waiting_length + length > MAX_WAITING_LENGTH
    if (isFull) throw new Refusal('too many requests at once')
    this.#queue.push({ start, length })
    this.#waiting_length += length
    this.#open()
  }

  leave(): void {
    this.#inside--
    this.#open()
  }

  #open(): void {
    while (this.#inside < this.width && this.#queue.length > 0 && this.#opening === null) {
      const wait_ms = this.#waitMs()
      if (wait_ms > 0) {
        this.#opening = setTimeout(() => {
          this.#opening = null
          this.#open()
        }, wait_ms)
        return
      }
      const { start, length } = this.#queue.shift()!
      this.#waiting_length -= length
      this.#inside++
      start()
    }
  }

  /** Nobody came for a while: then some may come at once. */
  #waitMs(): number {
    if (!this.pace) return 0
    const { per_s, at_first } = this.pace
    const now = performance.now()
    const even_ms = Math.max(this.#even_ms, now)
    const wait_ms = even_ms - now - (at_first / per_s) * 1000
    if (wait_ms <= 0) this.#even_ms = even_ms + 1000 / per_s
    return wait_ms
  }
}

/** As the guest reads it. */
export function writeAnswer(answer: HostAnswer): string {
  if ('result' in answer) return JSON.stringify({ result: answer.result ?? null })
  return JSON.stringify(answer)
}
