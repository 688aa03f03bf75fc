// Stops the server process of PostgreSQL, whoever started it. Called by server.ts and command.ts.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import { errorCode } from '../../../lib/error-code.ts'
import { isPostmasterOf, readPidFile } from './pid-file.ts'

const poll_ms = 25

// Fast shutdown; then the immediate one, from which the next start recovers.
const steps = [
  { signal: 'SIGINT', limit_ms: 15_000 },
  { signal: 'SIGQUIT', limit_ms: 5000 },
] as const

/** Only for whoever holds the claim. */
export async function stopPostgres({ paths, log }: Cluster) {
  const pid = (await readPidFile(paths.folder))?.pid
  if (!pid || !isPostmasterOf(pid, paths.folder)) {
    return log.warn({ pid, folder: paths.folder }, 'found no process of PostgreSQL to stop')
  }
  for (const { signal, limit_ms } of steps) {
    tell(pid, signal)
    for (const end = Date.now() + limit_ms; Date.now() < end; await sleep(poll_ms)) {
      if (!isPostmasterOf(pid, paths.folder)) return log.info({ pid }, 'stopped PostgreSQL')
    }
    log.warn({ pid, signal }, 'PostgreSQL did not stop in time')
  }
}

function tell(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error // gone by itself
  }
}
