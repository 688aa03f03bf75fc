// Worker threads. Each entry is bundled into a file of its own, because Node runs no TypeScript in a thread.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/** The names scripts/bundle.js knows. */
export type ThreadName =
  | 'event-store'
  | 'journal'
  | 'parse-json'
  | 'password-strength'
  | 'query'
  | 'read-destinations'
  | 'sandbox'

// Beside the bundle; in a checkout that runs from its sources (tests), where test/harness/global-setup.ts puts them.
const FOLDERS = [
  join(import.meta.dirname, 'threads'),
  join(import.meta.dirname, '../../node_modules/.longshore-threads'),
]

export function startThread(name: ThreadName, workerData?: unknown, options: WorkerOptions = {}): Worker {
  return new Worker(threadFile(name), { ...options, workerData })
}

/** For those that run in a process instead. */
export function threadFile(name: ThreadName): string {
  const files = FOLDERS.map((folder) => join(folder, `${name}.js`))
  const file = files.find((candidate) => existsSync(candidate))
  if (file === undefined) throw new Error(`the thread ${name} was not built`)
  return file
}
