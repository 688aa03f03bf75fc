// Counting tries at secrets in the database: in fixed windows, atomically, and kept over restarts. A try is taken before
// the secret is looked at, so that of a thousand sent at once no more are looked at than one by one.
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Rate } from './throttle.ts'

/** `who` is a keyed hash of the account or place that tries. */
export type Budget = { who: string; rates: readonly Rate[] }

/** A window that is used up; `who` has to wait until it ends. */
export class NoTriesLeft extends Error {
  constructor(readonly windows: readonly { who: string; ends_at: Date }[]) {
    super('no tries left')
  }

  waitMs(now: Date): number {
    return Math.max(...this.windows.map(({ ends_at }) => ends_at.getTime() - now.getTime()))
  }
}

type TakenRow = { who: string; window_ms: number; used: number; ends_at: Date }

/** Takes one try from every window of every budget, or throws NoTriesLeft and takes none. */
export async function takeTry(db: Db, budgets: readonly Budget[], now: Date): Promise<void> {
  const windows = budgets.flatMap(({ who, rates }) => rates.map((rate) => ({ who, ...rate })))
  await db.transaction(async (tx) => {
    const taken = await countOne(tx, windows, now)
    const limitOf = (row: TakenRow) =>
      windows.find(({ who, window_ms }) => who === row.who && window_ms === row.window_ms)!.count
    const full = taken.filter((row) => row.used > limitOf(row))
    if (full.length > 0) throw new NoTriesLeft(full)
  })
}

/** In one order, so that no two requests wait for each other's rows. */
function countOne(tx: Db, windows: readonly { who: string; window_ms: number }[], now: Date) {
  return tx.rows<TakenRow>(sql`
    INSERT INTO tries AS known (who, window_ms, used, ends_at)
    SELECT who, window_ms, 1, ${now}::timestamptz + window_ms * interval '1 ms'
    FROM unnest(${windows.map(({ who }) => who)}::text[], ${windows.map(({ window_ms }) => window_ms)}::int[])
      AS fresh (who, window_ms)
    ORDER BY who, window_ms
    ON CONFLICT (who, window_ms) DO UPDATE SET
      used = CASE WHEN known.ends_at > ${now} THEN known.used + 1 ELSE 1 END,
      ends_at = CASE WHEN known.ends_at > ${now} THEN known.ends_at ELSE excluded.ends_at END
    RETURNING who, window_ms, used, ends_at`)
}

/** What was taken a moment ago turned out to be no guess. */
export async function giveTryBack(db: Db, whos: readonly string[], now: Date): Promise<void> {
  await db.run(sql`
    WITH held AS (
      SELECT who, window_ms FROM tries WHERE who = ANY(${whos}) AND ends_at > ${now} AND used > 0
      ORDER BY who, window_ms FOR UPDATE)
    UPDATE tries SET used = used - 1 FROM held WHERE tries.who = held.who AND tries.window_ms = held.window_ms`)
}

export async function forgetTries(db: Db, who: string): Promise<void> {
  await db.run(sql`DELETE FROM tries WHERE who = ${who}`)
}

/** Timetable entry: windows that have ended. */
export async function forgetOldTries(db: Db, now: Date): Promise<number> {
  return db.run(sql`DELETE FROM tries WHERE ends_at <= ${now}`)
}
