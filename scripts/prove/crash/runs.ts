// What the server's own tables say of the runs. Read beside the server, which knows nothing of it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunRow } from '../../../src/features/batch-exports/rows.ts'
import { RUN_COLUMNS } from '../../../src/features/batch-exports/runs/columns.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { sql } from '../../../src/platform/db/sql.ts'

/** Without anything getting on. */
/** For one run: nobody sees how far it has got. */
const SETTLE_LIMIT_MS = 300_000
const POLL_MS = 20

/** Runs at work. */
export async function countActive(db: Db): Promise<number> {
  const { active } = await db.only<{ active: number }>(
    sql`SELECT coalesce(sum(active), 0)::int AS active FROM batch_export_slot`,
  )
  return active
}

/** Until nothing is due, waiting or at work; null then. What stays the same for so long is stuck, and told. */
export async function waitUntilSettled(
  db: Db,
  now: () => Date,
  limit_ms = SETTLE_LIMIT_MS,
): Promise<string | null> {
  let deadline = Date.now() + limit_ms
  let before = ''
  for (;;) {
    const left = await whatIsLeft(db, now())
    if (left === '') return null
    if (left !== before) deadline = Date.now() + limit_ms
    else if (Date.now() > deadline) return left
    before = left
    await sleep(POLL_MS)
  }
}

async function whatIsLeft(db: Db, now: Date): Promise<string> {
  const { left } = await db.only<{ left: string }>(sql`
    SELECT concat_ws(', ',
      (SELECT string_agg('run ' || id || ' ' || status || ' after ' || failures || ' failures: '
          || coalesce(latest_error, '-'), ', ')
        FROM batch_export_run WHERE finished_at IS NULL OR lease_owner IS NOT NULL),
      (SELECT string_agg('backfill ' || id, ', ') FROM batch_export_backfill WHERE status IN ('Starting', 'Running')),
      (SELECT string_agg('export ' || name || ' due', ', ') FROM batch_export
        WHERE NOT paused AND next_due_at <= ${now}),
      (SELECT string_agg(active || ' slots of project ' || project_id, ', ') FROM batch_export_slot WHERE active > 0)
    ) AS left`)
  return left
}

/** Runs that have ended, without those known already, and those that a later one over the same events has replaced. */
export function listEnded(db: Db, known: ReadonlySet<string>): Promise<RunRow[]> {
  return db.rows(sql`
    SELECT ${RUN_COLUMNS} FROM batch_export_run AS run
    WHERE finished_at IS NOT NULL AND id <> ALL(${[...known]}::uuid[]) AND NOT EXISTS (
      SELECT 1 FROM batch_export_run AS later
      WHERE coalesce(later.repeats, later.id) = coalesce(run.repeats, run.id) AND later.status = 'Completed'
        AND (later.created_at, later.id) > (run.created_at, run.id))
    ORDER BY data_interval_end, id`)
}

/** Any run that has delivered something. */
export async function findDelivered(db: Db, batch_export_id: string, chance: number): Promise<string | null> {
  const row = await db.row<{ id: string }>(sql`
    WITH delivered AS (
      SELECT id, row_number() OVER (ORDER BY data_interval_end) AS number, count(*) OVER () AS count
      FROM batch_export_run
      WHERE batch_export_id = ${batch_export_id} AND status = 'Completed' AND records_completed > 0)
    SELECT id FROM delivered WHERE number = 1 + floor(${chance}::float8 * count)`)
  return row?.id ?? null
}

/** Runs by arrival, of the schedule or after a pause, whose positions do not begin where those before ended. */
export async function listGaps(db: Db): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    SELECT id FROM (
      SELECT id, seq_from, lag(seq_to, 1, 0) OVER (PARTITION BY batch_export_id ORDER BY data_interval_end) AS before
      FROM batch_export_run
      WHERE selection = 'arrival' AND repeats IS NULL AND seq_to IS NOT NULL) AS run
    WHERE seq_from <> before`)
  return rows.map(({ id }) => id)
}
