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

/** Lets so many through at once; what is too much in the queue is refused. */
export class Gate {
  #inside = 0
  #waiting_length = 0
  readonly #queue: { start(): void; length: number }[] = []

  constructor(private readonly width: number) {}

  /** `length` is what it takes to keep it waiting. */
  enter(length: number, start: () => void): void {
    if (this.#inside < this.width) {
      this.#inside++
      start()
      return
    }
    const isFull = this.#queue.length >= MAX_WAITING || this.#waiting_length + length > MAX_WAITING_LENGTH
    if (isFull) throw new Refusal('too many requests at once')
    this.#queue.push({ start, length })
    this.#waiting_length += length
  }

  leave(): void {
    const next = this.#queue.shift()
    if (!next) {
      this.#inside--
      return
    }
    this.#waiting_length -= next.length
    next.start()
  }
}

/** As the guest reads it. */
export function writeAnswer(answer: HostAnswer): string {
  if ('result' in answer) return JSON.stringify({ result: answer.result ?? null })
  return JSON.stringify(answer)
}
