// The thread that reads large bodies (started by large-bodies.ts). It gives its events out in slices, each when asked for,
// so that taking them in never holds up the main thread.
import { parentPort } from 'node:worker_threads'
import { readCapture, type CaptureBody, type Reading } from './read-capture.ts'
import { Refusal, type Fault } from './refusal.ts'

/** `read` starts a body and is answered with its first slice, `next` with the next one. */
export type Question = { kind: 'read'; body: CaptureBody; limit: number } | { kind: 'next' }
export type Answer =
  | { kind: 'slice'; reading: Reading; is_last: boolean }
  | { kind: 'refused'; fault: Fault }
  | { kind: 'failed'; message: string }

const SLICE_EVENTS = 500
const SLICE_BYTES = 256 * 1024

let reading: Reading | null = null
let given = 0

async function answer(question: Question): Promise<Answer> {
  if (question.kind === 'read') {
    given = 0
    try {
      reading = await readCapture(question.body, question.limit)
    } catch (error) {
      if (error instanceof Refusal) return { kind: 'refused', fault: error.fault }
      return { kind: 'failed', message: String(error) }
    }
  }
  if (reading === null) return { kind: 'failed', message: 'nothing was read yet' }
  return slice(reading)
}

function slice(whole: Reading): Answer {
  const bytesPerEvent = whole.bytes / Math.max(1, whole.events.length)
  const count = Math.max(1, Math.min(SLICE_EVENTS, Math.floor(SLICE_BYTES / bytesPerEvent)))
  const events = whole.events.slice(given, given + count)
  given += count
  const is_last = given >= whole.events.length
  // Nothing large is kept while the thread waits for its next body.
  if (is_last) reading = null
  return { kind: 'slice', reading: { ...whole, events }, is_last }
}

parentPort!.on('message', (question: Question) => {
  void answer(question).then((message) => parentPort!.postMessage(message))
})
