// A thread that reads large bodies (started by body-thread.ts). It gives its events out in slices, each when asked for, so
// that taking them in never holds up the main thread.
import { parentPort } from 'node:worker_threads'
import { lowerPriority } from '../../../platform/thread-priority.ts'
import { readCapture, type CaptureBody, type Reading, type ReadLimits } from './read-capture.ts'
import { Refusal, type Fault } from './refusal.ts'
import { weigh } from './weigh.ts'

/** `read` starts a body and is answered with its first slice, `next` with the next one. */
export type Question = { kind: 'read'; body: CaptureBody; limits: ReadLimits } | { kind: 'next' }
export type Answer =
  | { kind: 'slice'; reading: Reading; is_last: boolean }
  | { kind: 'refused'; fault: Fault }
  | { kind: 'failed'; message: string }

// Taking this much in holds the main thread for a few milliseconds.
const SLICE_EVENTS = 500
const SLICE_VALUES = 10_000
const SLICE_CHARACTERS = 512 * 1024

let reading: Reading | null = null
let given = 0

async function answer(question: Question): Promise<Answer> {
  if (question.kind === 'read') {
    given = 0
    try {
      reading = await readCapture(question.body, question.limits)
    } catch (error) {
      if (error instanceof Refusal) return { kind: 'refused', fault: error.fault }
      return { kind: 'failed', message: String(error) }
    }
  }
  if (reading === null) return { kind: 'failed', message: 'nothing was read yet' }
  return slice(reading)
}

function slice(whole: Reading): Answer {
  const start = given
  let values = 0
  let characters = 0
  while (given < whole.events.length && given - start < SLICE_EVENTS) {
    const weight = weigh(whole.events[given]!.properties)
    values += weight.values
    characters += weight.characters
    // One goes in any case.
    if (given > start && (values > SLICE_VALUES || characters > SLICE_CHARACTERS)) break
    given += 1
  }
  const events = whole.events.slice(start, given)
  const is_last = given >= whole.events.length
  // Nothing large is kept while the thread waits for its next body.
  if (is_last) reading = null
  return { kind: 'slice', reading: { ...whole, events }, is_last }
}

// Whoever sends little is served before whoever sends much.
lowerPriority('work')

parentPort!.on('message', (question: Question) => {
  void answer(question).then((message) => parentPort!.postMessage(message))
})
