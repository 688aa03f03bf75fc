// How hard a password is to guess, estimated on a thread of its own: some texts take a second, and the thread that answers
// requests must not be held by what a stranger has made up. The dictionaries take some 30 MB: they are loaded when a
// password is chosen, and given back when none was for a while.
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../platform/threads.ts'

/** `words` are what an attacker would try first. */
export type Question = { password: string; words: readonly string[] }

const IDLE_MS = 60_000

let thread: Worker | undefined
let idle: NodeJS.Timeout | undefined
let last: Promise<unknown> = Promise.resolve()

/** From 0, guessed at once, to 4. One after the other, as they were asked. */
export function estimateStrength(question: Question): Promise<number> {
  const answer = last.then(() => ask(question))
  last = answer.catch(() => undefined)
  return answer
}

async function ask(question: Question): Promise<number> {
  clearTimeout(idle)
  const worker = (thread ??= start())
  // A command that makes a user waits for the answer; at rest the thread keeps nobody from ending.
  worker.ref()
  try {
    worker.postMessage(question)
    const [score] = (await once(worker, 'message')) as [number]
    return score
  } finally {
    worker.unref()
    idle = setTimeout(() => void worker.terminate(), IDLE_MS).unref()
  }
}

function start(): Worker {
  const worker = startThread('password-strength')
  worker.on('error', () => undefined)
  worker.on('exit', () => {
    if (thread === worker) thread = undefined
  })
  return worker
}
