// Worker threads and child processes as the calls see them.
import type { ChildProcess } from 'node:child_process'
import { parentPort, type Worker } from 'node:worker_threads'
import type { Port } from './calls.ts'

export function threadPort(worker: Worker): Port {
  return {
    post: (message) => worker.postMessage(message),
    onMessage: (take) => void worker.on('message', take),
    onEnd(end) {
      worker.on('error', end)
      worker.on('exit', () => end(null))
    },
  }
}

export function processPort(child: ChildProcess): Port {
  return {
    post(message) {
      // Its end is told apart: whoever calls it then is answered by that.
      if (child.connected) child.send(message as object)
    },
    onMessage: (take) => void child.on('message', take),
    onEnd(end) {
      child.on('error', end)
      child.on('exit', () => end(null))
    },
  }
}

export function ownThreadPort() {
  const port = parentPort!
  return {
    post: (message: unknown) => port.postMessage(message),
    onMessage: (take: (message: unknown) => void) => void port.on('message', take),
    end: () => port.close(),
  }
}
