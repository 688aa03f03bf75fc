// Hands large bodies to a thread of their own, one after the other, and gathers what it reads.
import { setImmediate } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { StoreBusy } from '../../../platform/event-store/event-store.ts'
import { startThread } from '../../../platform/threads.ts'
import type { Answer, Question } from './parse-thread.ts'
import type { CaptureBody, Reading } from './read-capture.ts'
import { Refusal } from './refusal.ts'

const MAX_WAITING_BYTES = 100 * 1024 * 1024
const IDLE_MS = 30_000
// Twenty megabytes take about a second; whatever takes this long holds up everybody behind it.
const MAX_ANSWER_MS = 20_000

export class LargeBodies {
  #worker: Worker | null = null
  #last: Promise<unknown> = Promise.resolve()
  #waiting_bytes = 0
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  /** Throws a Refusal, or StoreBusy when too much waits or the thread died over it. The body's bytes are used up. */
  async read(body: CaptureBody, limit: number): Promise<Reading> {
    const size = body.bytes.byteLength
    if (this.#isClosed || this.#waiting_bytes + size > MAX_WAITING_BYTES) throw new StoreBusy()
    this.#waiting_bytes += size
    const reading = this.#last.then(() => this.#readNow(body, limit))
    this.#last = reading.catch(() => undefined)
    try {
      return await reading
    } finally {
      this.#waiting_bytes -= size
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.stop()
  }

  /** Ends the thread and what it is reading; the next body starts another. */
  async stop(): Promise<void> {
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }

  async #readNow(body: CaptureBody, limit: number): Promise<Reading> {
    if (this.#isClosed) throw new StoreBusy()
    clearTimeout(this.#idle)
    const worker = (this.#worker ??= this.#start())
    try {
      const bytes = ofItsOwn(body.bytes)
      let answer = await ask(worker, { kind: 'read', body: { ...body, bytes }, limit }, bytes.buffer)
      const events: Reading['events'] = []
      for (;;) {
        if (answer.kind === 'refused') throw new Refusal(answer.fault)
        if (answer.kind === 'failed') throw new Error(`the parsing thread: ${answer.message}`)
        events.push(...answer.reading.events)
        if (answer.is_last) return { ...answer.reading, events }
        // Others get their turn between two slices.
        await setImmediate()
        answer = await ask(worker, { kind: 'next' })
      }
    } finally {
      this.#idle = setTimeout(() => void this.stop(), IDLE_MS).unref()
    }
  }

  #start(): Worker {
    const worker = startThread('parse-json')
    worker.unref()
    worker.on('error', () => undefined)
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = null
    })
    return worker
  }
}

/** Small buffers share their memory with others, so they are copied before they are given away. */
function ofItsOwn(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes)
}

function ask(worker: Worker, question: Question, ...transferred: ArrayBuffer[]): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const tooLong = setTimeout(() => void worker.terminate(), MAX_ANSWER_MS)
    const settle = (result: () => void) => {
      clearTimeout(tooLong)
      worker.off('message', take).off('exit', fail)
      result()
    }
    const take = (answer: Answer) => settle(() => resolve(answer))
    const fail = () => settle(() => reject(new StoreBusy('the parsing thread ended')))
    worker.on('message', take).on('exit', fail)
    worker.postMessage(question, transferred)
  })
}
