// One thread that reads large bodies, one at a time, and what it is asked and answers.
import { setImmediate } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { StoreBusy } from '../../../platform/event-store/event-store.ts'
import { startThread } from '../../../platform/threads.ts'
import type { Answer, Question } from './parse-thread.ts'
import type { CaptureBody, Reading, ReadLimits } from './read-capture.ts'
import { Refusal, tooLarge } from './refusal.ts'

const IDLE_MS = 30_000
// What the limits let through takes a few seconds at most, also where cores are scarce.
const MAX_ANSWER_MS = 20_000
// Twenty megabytes as text and as values. Without it a body could take the memory of the whole process.
const MAX_HEAP_MB = 512

export class BodyThread {
  #worker: Worker | null = null
  #idle: NodeJS.Timeout | undefined

  /** Throws a Refusal, or StoreBusy when the thread died over it. The body's bytes are used up. */
  async read(body: CaptureBody, limits: ReadLimits): Promise<Reading> {
    clearTimeout(this.#idle)
    const worker = (this.#worker ??= this.#start())
    try {
      const bytes = ofItsOwn(body.bytes)
      let answer = await ask(worker, { kind: 'read', body: { ...body, bytes }, limits }, bytes.buffer)
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

  /** Ends the thread and what it is reading; the next body starts another. */
  async stop(): Promise<void> {
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }

  #start(): Worker {
    const worker = startThread('parse-json', undefined, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    })
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

/** A body that takes too long would take as long again: its sender is not told to repeat it. */
function ask(worker: Worker, question: Question, ...transferred: ArrayBuffer[]): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let failure: Error = new StoreBusy('the parsing thread ended')
    const tooLong = setTimeout(() => {
      failure = tooLarge('The body takes too long to read: send smaller batches.')
      void worker.terminate()
    }, MAX_ANSWER_MS)
    const settle = (result: () => void) => {
      clearTimeout(tooLong)
      worker.off('message', take).off('exit', fail)
      result()
    }
    const take = (answer: Answer) => settle(() => resolve(answer))
    const fail = () => settle(() => reject(failure))
    worker.on('message', take).on('exit', fail)
    worker.postMessage(question, transferred)
  })
}
