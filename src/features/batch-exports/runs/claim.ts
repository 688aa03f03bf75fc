// A worker's claim of the next run that is due. A project's slot row is locked by whoever claims for it, which makes its
// limit strict.
import type { Db } from '../../../platform/db/database.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import type { RunRow } from '../rows.ts'
import { BEST_FIRST, BUSY, claimableRuns, MOST_RUNS_PER_PROJECT } from './claimable.ts'
import { RUN_COLUMNS } from './columns.ts'
import { leaseEnd } from './queries.ts'

/** A project gets its slot with its first run. */
export async function makeSlots(db: Db): Promise<void> {
  await db.run(sql`
    INSERT INTO batch_export_slot (project_id)
    SELECT DISTINCT project_id FROM batch_export_run
    WHERE finished_at IS NULL AND lease_owner IS NULL
      AND NOT EXISTS (SELECT 1 FROM batch_export_slot WHERE batch_export_slot.project_id = batch_export_run.project_id)
    ON CONFLICT DO NOTHING`)
}

export type Claim = {
  /** Only runs of this backfill. */
  backfill_id?: string | undefined
  /** Only runs of projects with fewer runs at work than this. */
  fewer_than?: number
}

/** How often a claim looks for another project when others were faster, before it leaves the rest to the next tick. */
const MOST_LOOKS = 10

/** The next run due: projects in turn, those with the fewest runs at work first. */
export async function claimRun(
  db: Db,
  owner: string,
  now: Date,
  { backfill_id, fewer_than = MOST_RUNS_PER_PROJECT }: Claim = {},
): Promise<RunRow | undefined> {
  const search = {
    claimable: claimableRuns(now, backfill_id ?? null),
    most: Math.min(fewer_than, MOST_RUNS_PER_PROJECT),
  }
  for (let look = 0; look < MOST_LOOKS; look++) {
    const run = await tryClaim(db, search, owner, now)
    if (run !== TAKEN) return run
  }
  return undefined
}

/** Over all projects: whether a run has been due since then that nothing keeps from beginning but the want of a worker. */
export async function isRunWaiting(db: Db, due_before: Date): Promise<boolean> {
  const claimable = claimableRuns(due_before, null)
  return (await findNextProject(db, claimable, MOST_RUNS_PER_PROJECT, due_before)) !== undefined
}

type Search = { claimable: Statement; most: number }

/** Others have got what the chosen project had. */
const TAKEN = Symbol('taken')

/** A transaction for each try: no claim holds one slot and waits for another. Undefined: nothing can begin. */
function tryClaim(
  db: Db,
  { claimable, most }: Search,
  owner: string,
  now: Date,
): Promise<RunRow | typeof TAKEN | undefined> {
  return db.transaction(async (tx) => {
    const next = await findNextProject(tx, claimable, most, now)
    if (!next) return undefined
    // Separate statements: each sees what the last holder of the slot has committed.
    const slot = await lockSlot(tx, next.project_id, most)
    const run = slot && (await takeRun(tx, slot.project_id, claimable, owner, now))
    if (!run) return TAKEN
    await tx.run(sql`
      UPDATE batch_export_slot SET active = active + 1, last_claimed_at = ${now} WHERE project_id = ${run.project_id}`)
    return run
  })
}

type Slot = { project_id: number }

/**
 * EXISTS ends the query early when nothing is due. Otherwise it goes project by project: a joined plan would read all
 * due runs.
 */
function findNextProject(tx: Db, claimable: Statement, most: number, now: Date): Promise<Slot | undefined> {
  return tx.row(sql`
    WITH ${BUSY}
    SELECT slot.project_id
    FROM (SELECT * FROM batch_export_slot WHERE active < ${most} ORDER BY active, last_claimed_at, project_id) AS slot
    CROSS JOIN LATERAL (SELECT 1 FROM ${claimable} LIMIT 1) AS found
    WHERE EXISTS (SELECT 1 FROM batch_export_run
      WHERE finished_at IS NULL AND lease_owner IS NULL AND run_after <= ${now})
    LIMIT 1`)
}

function lockSlot(tx: Db, project_id: number, most: number): Promise<Slot | undefined> {
  return tx.row(sql`
    SELECT project_id FROM batch_export_slot WHERE project_id = ${project_id} AND active < ${most} FOR UPDATE`)
}

function takeRun(
  tx: Db,
  project_id: number,
  claimable: Statement,
  owner: string,
  now: Date,
): Promise<RunRow | undefined> {
  return tx.row(sql`
    WITH ${BUSY}
    UPDATE batch_export_run SET lease_owner = ${owner}, lease_until = ${leaseEnd(now)}, attempt = attempt + 1,
      is_committing = false, last_updated_at = ${now}, waiting_for = NULL, waiting_since = NULL
    WHERE id = (
      SELECT best.id FROM batch_export_slot AS slot CROSS JOIN LATERAL (
        SELECT run.id FROM ${claimable} ORDER BY ${BEST_FIRST} LIMIT 1 FOR UPDATE OF run) AS best
      WHERE slot.project_id = ${project_id})
    RETURNING ${RUN_COLUMNS}`)
}
