// Which runs of a project could begin now, as a part of SQL for the two statements of a claim.
import { sql, type Statement } from '../../../platform/db/sql.ts'

/** Runs of one project at work. */
export const RUNS_PER_PROJECT = 4
/** What backfills leave free, so that the schedule never waits for them. */
export const RUNS_OF_BACKFILLS = RUNS_PER_PROJECT - 1
/**
 * With those of the schedule that go where nothing of the project is at work: one destination that hangs does not keep
 * the project's others waiting. Also a CHECK of the table.
 */
export const MOST_RUNS_PER_PROJECT = RUNS_PER_PROJECT + 2

/** Exports that are older than the column count as destinations of their own. */
const DESTINATION = sql`coalesce(export.destination_key, export.id::text)`

/** For WITH: how many runs of each project are at work at each of its destinations. */
export const BUSY = sql`
  busy AS MATERIALIZED (
    SELECT live.project_id, ${DESTINATION} AS destination, count(*)::int AS runs
    FROM batch_export_run AS live JOIN batch_export AS export ON export.id = live.batch_export_id
    WHERE live.lease_owner IS NOT NULL GROUP BY 1, 2)`

/** The export of a `run`, with its breaker while that is open, and with what is BUSY there. */
export const DESTINATION_OF_RUN = sql`
  JOIN batch_export AS export ON export.id = run.batch_export_id
  LEFT JOIN batch_export_breaker AS breaker ON breaker.project_id = run.project_id
    AND breaker.destination = ${DESTINATION} AND breaker.opened_at IS NOT NULL
  LEFT JOIN busy ON busy.project_id = run.project_id AND busy.destination = ${DESTINATION}`

/** The order of runs of one delivery: one that has begun ends first, the others follow as they were asked for. */
const turnOf = (run: Statement) => sql`(${run}.started_at IS NULL, ${run}.created_at, ${run}.id)`

const OVER_SAME_INTERVAL = sql`
  FROM batch_export_run AS other
  WHERE other.batch_export_id = run.batch_export_id AND other.data_interval_end = run.data_interval_end`

/**
 * Runs over the same interval write to the same place, so they take turns. Those of one delivery also wait while one of
 * them waits for its next attempt: what each of them does depends on what those before it have done. Asked in two parts,
 * each of which an index over few runs answers.
 */
export const IS_INTERVAL_TAKEN = sql`(
  EXISTS (SELECT 1 ${OVER_SAME_INTERVAL} AND other.lease_owner IS NOT NULL)
  OR EXISTS (SELECT 1 ${OVER_SAME_INTERVAL} AND other.finished_at IS NULL
    AND coalesce(other.repeats, other.id) = coalesce(run.repeats, run.id)
    AND ${turnOf(sql`other`)} < ${turnOf(sql`run`)}))`

/**
 * FROM and WHERE, given a `slot` and BUSY; to be chosen from by BEST_FIRST. While a breaker is open, one run at a time
 * tries the destination.
 */
export function claimableRuns(now: Date, only_backfill: string | null): Statement {
  return sql`
    batch_export_run AS run ${DESTINATION_OF_RUN}
    WHERE run.project_id = slot.project_id AND finished_at IS NULL AND lease_owner IS NULL AND run_after <= ${now}
      AND (backfill_id = ${only_backfill}::uuid OR ${only_backfill}::uuid IS NULL) AND NOT ${IS_INTERVAL_TAKEN}
      AND CASE WHEN backfill_id IS NOT NULL THEN slot.active < ${RUNS_OF_BACKFILLS}
        ELSE slot.active < ${RUNS_PER_PROJECT} OR busy.runs IS NULL END
      AND (breaker.opened_at IS NULL OR breaker.probe_at <= ${now} AND busy.runs IS NULL)`
}

/**
 * The schedule before backfills, destinations in turn, oldest first. A destination that fails is tried by the run that
 * has failed least: should one run be the cause, the others soon show that the destination works.
 */
export const BEST_FIRST = sql`
  (backfill_id IS NOT NULL), coalesce(busy.runs, 0), CASE WHEN breaker.opened_at IS NULL THEN 0 ELSE run.failures END,
  data_interval_end, run.created_at, run.id`
