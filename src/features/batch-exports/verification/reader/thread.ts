// The thread that reads destinations back. Nobody waits for it: it goes after all the others.
import { parentPort, workerData } from 'node:worker_threads'
import { lowerPriority } from '../../../../platform/thread-priority.ts'
import { DestinationReader, type ReaderOptions } from './destination-reader.ts'
import type { Answer, Call } from './messages.ts'
import { OutOfReach } from './out-of-reach.ts'

lowerPriority('background')

const port = parentPort!
const reader = new DestinationReader(workerData as ReaderOptions)

async function answer({ id, name, args }: Call): Promise<Answer> {
  try {
    const call = reader[name].bind(reader) as (...args: readonly unknown[]) => Promise<unknown>
    return { id, result: await call(...args) }
  } catch (error) {
    if (error instanceof OutOfReach) return { id, out_of_reach: error.message }
    return { id, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

port.on('message', (call: Call) => {
  void answer(call).then((message) => {
    port.postMessage(message)
    if (call.name === 'close') port.close()
  })
})
