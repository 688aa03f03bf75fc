// Runs go first: verifications stand still while one waits that could begin. One that waits for its turn, for a slot of its
// project or for a destination that fails does not hold them up: standing still would not help it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Services } from '../../../platform/services.ts'
import { isRunWaiting } from '../runs/claim.ts'

/** A run that nobody has begun so long after it was due waits for a worker. */
const PATIENCE_MS = 2_000
const LOOK_EVERY_MS = 500
/** Whatever holds the runs up, a destination that hangs perhaps: so often a step is taken all the same. */
const MAX_PAUSE_MS = 60_000

/** To be called between two steps. One for all verifications of a process: each of many short ones would wait as long. */
export function givingWay({ db, now }: Pick<Services, 'db' | 'now'>): (signal: AbortSignal) => Promise<void> {
  let looked_at = 0
  const mustWait = () => isRunWaiting(db, new Date(now().getTime() - PATIENCE_MS))
  return async (signal) => {
    signal.throwIfAborted()
    const began_at = performance.now()
    if (began_at < looked_at + LOOK_EVERY_MS) return
    while (performance.now() < began_at + MAX_PAUSE_MS && (await mustWait())) {
      await sleep(LOOK_EVERY_MS)
      signal.throwIfAborted()
    }
    looked_at = performance.now()
  }
}
