// Once a day everything that an export has delivered is verified. Exports are spread over the day by their ids.
import type { Db } from '../../../platform/db/database.ts'
import { job } from '../../../platform/jobs/jobs.ts'
import { insertVerification, listTimetabled } from './queries.ts'
import { EVERYTHING } from './rows.ts'

const DAY_MS = 24 * 3_600_000

export const verifyDaily = job<Record<string, never>>({
  name: 'verify-exports',
  cron: '*/10 * * * *',
  handle: ({ db }, _data, now) => enqueueDaily(db, now),
})

export async function enqueueDaily(db: Db, now: Date): Promise<void> {
  for (const { created_at, last_enqueued_at, ...owner } of await listTimetabled(db)) {
    if ((last_enqueued_at ?? created_at) >= lastMoment(owner.id, now)) continue
    await insertVerification(db, owner, { ...EVERYTHING, trigger: 'timetable' }, now)
  }
}

/** The export's moment of the day, when it last passed. */
export function lastMoment(export_id: string, now: Date): Date {
  const offset = Number.parseInt(export_id.slice(-8), 16) % DAY_MS
  return new Date(now.getTime() - ((((now.getTime() - offset) % DAY_MS) + DAY_MS) % DAY_MS))
}
