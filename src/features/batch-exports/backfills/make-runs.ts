// The tick of backfills: each that can go on gets its next runs, oldest first. The worker calls it with the scheduler's.
import type { Services } from '../../../platform/services.ts'
import { listMovableBackfills } from './queries.ts'
import { MAX_LIVE_RUNS, advanceBackfill } from './advance.ts'

/** How many runs were made. */
export async function makeBackfillRuns({ db }: Pick<Services, 'db'>, now: Date): Promise<number> {
  let made = 0
  for (const id of await listMovableBackfills(db, MAX_LIVE_RUNS)) {
    made += await db.transaction((tx) => advanceBackfill(tx, id, now))
  }
  return made
}
