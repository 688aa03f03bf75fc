// Runs go first: a verification stands still while one of them waits to be begun.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Services } from '../../../platform/services.ts'
import { isRunWaiting } from './queries.ts'

/** A run that nobody has begun so long after it was due waits for a slot. */
const PATIENCE_MS = 2_000
const LOOK_EVERY_MS = 500
/** Whatever holds the runs up, a destination that hangs perhaps: so often a step is taken all the same. */
const MAX_PAUSE_MS = 60_000

/** To be called between two steps. */
export function givingWay(
  { db, now }: Pick<Services, 'db' | 'now'>,
  signal: AbortSignal,
): () => Promise<void> {
  let looked_at = 0
  const mustWait = () => isRunWaiting(db, new Date(now().getTime() - PATIENCE_MS))
  return async () => {
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
