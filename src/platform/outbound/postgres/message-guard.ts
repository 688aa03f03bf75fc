// Cuts what a server sends into messages, and hands on whole ones that are sound. What comes between two statements is
// bounded, so that neither one message nor many rows take up our memory.
import { isSound } from './sound-message.ts'

/** A letter and the length, which counts itself. */
const HEADER_BYTES = 5
const READY_FOR_QUERY = 'Z'

export class AnswerTooLong extends Error {}

export class MessageGuard {
  /** Chunks that are no whole message yet. */
  #waiting: Buffer[] = []
  #waiting_bytes = 0
  /** How many of them are looked at next. */
  #wanted = HEADER_BYTES
  #answer_bytes = 0

  constructor(private readonly max_answer_bytes: number) {}

  /** The messages that are whole by now, or null. Throws when the server sends what none would. */
  take(chunk: Buffer): Buffer | null {
    this.#waiting.push(chunk)
    this.#waiting_bytes += chunk.length
    if (this.#waiting_bytes < this.#wanted) return null
    const bytes = this.#waiting.length === 1 ? chunk : Buffer.concat(this.#waiting)
    const end = this.#readMessages(bytes)
    this.#waiting = end < bytes.length ? [bytes.subarray(end)] : []
    this.#waiting_bytes = bytes.length - end
    return end > 0 ? bytes.subarray(0, end) : null
  }

  /** Where the last whole message ends. */
  #readMessages(bytes: Buffer): number {
    let start = 0
    for (;;) {
      this.#wanted = HEADER_BYTES
      if (bytes.length - start < HEADER_BYTES) return start
      const kind = String.fromCharCode(bytes[start]!)
      const size = 1 + bytes.readUInt32BE(start + 1)
      if (size < HEADER_BYTES) throw new Error('a message of the database is too short')
      if (this.#answer_bytes + size > this.max_answer_bytes)
        throw new AnswerTooLong('an answer of the database is too long')
      this.#wanted = size
      if (bytes.length - start < size) return start
      if (!isSound(kind, bytes.subarray(start + HEADER_BYTES, start + size)))
        throw new Error('a message of the database is malformed')
      this.#answer_bytes = kind === READY_FOR_QUERY ? 0 : this.#answer_bytes + size
      start += size
    }
  }
}
