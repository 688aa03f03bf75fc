// SQL statements about how fresh exports are: all exports in one statement each, by look-ups in indexes. None of them goes
// through the runs that have delivered, so it does not matter how many there are.
import type { Db } from '../../../platform/db/database.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import { deliveryIdOf } from '../ledger/claim.ts'
import type { ExportRow, RunRow, RunStatus } from '../rows.ts'
import { STANDS } from '../verification/read-queries.ts'
import type { Verdict } from '../verification/rows.ts'

/** An export as far as its freshness is concerned. */
export type WatchedExport = Pick<
  ExportRow,
  | 'id'
  | 'project_id'
  | 'name'
  | 'model'
  | 'destination_type'
  | 'destination_alias'
  | 'interval'
  | 'timezone'
  | 'offset_day'
  | 'offset_hour'
  | 'paused'
  | 'end_at'
  | 'next_due_at'
>

/** Exports of one project, or of all projects when it is null; newest first. */
export function listWatched(db: Db, project_id: number | null): Promise<WatchedExport[]> {
  return db.rows(sql`
    SELECT id, project_id, name, model, destination_type, destination_alias, interval, timezone, offset_day, offset_hour, paused, end_at,
      next_due_at
    FROM batch_export WHERE deleted_at IS NULL AND (project_id = ${project_id} OR ${project_id}::int IS NULL)
    ORDER BY created_at DESC, id DESC`)
}

/** What the runs of an export have done, and are doing. */
export type Standing = {
  batch_export_id: string
  newest_delivered_at: Date | null
  last_completed_at: Date | null
  live_runs: number
  /** The newest, of the schedule or of a backfill. */
  last_run: { id: string; status: RunStatus; finished_at: string | null; latest_error: string | null } | null
  /** End of the run that is being worked on, by the speed of earlier ones. */
  expected_end_at: Date | null
  /** The result that counts; until there is one, the last. */
  last_verification: { id: string; verdict: Verdict; created_at: string } | null
}

/** The newest verification of `export` for which this holds. */
const lastVerification = (condition: Statement): Statement => sql`(
  SELECT json_build_object('id', id, 'verdict', verdict, 'created_at', created_at)
  FROM batch_export_verification WHERE batch_export_id = export.id AND ${condition}
  ORDER BY created_at DESC, id DESC LIMIT 1)`

export function listStandings(db: Db, exports: readonly WatchedExport[]): Promise<Standing[]> {
  return db.rows(sql`
    SELECT export.id AS batch_export_id, newest_delivered_at, last_completed_at,
      (SELECT count(*)::int FROM batch_export_run
        WHERE batch_export_id = export.id AND finished_at IS NULL) AS live_runs,
      (SELECT json_build_object('id', id, 'status', status, 'finished_at', finished_at, 'latest_error', latest_error)
        FROM batch_export_run WHERE batch_export_id = export.id
        ORDER BY created_at DESC, id DESC LIMIT 1) AS last_run,
      (SELECT started_at + records_total_count * timed_ms / timed_rows * interval '1 millisecond'
        FROM batch_export_run
        WHERE batch_export_id = export.id AND finished_at IS NULL AND lease_owner IS NOT NULL AND timed_rows > 0
        ORDER BY backfill_id IS NOT NULL, data_interval_end, id LIMIT 1) AS expected_end_at,
      coalesce(${lastVerification(STANDS)}, ${lastVerification(sql`status = 'Completed'`)}) AS last_verification
    FROM unnest(${exports.map(({ id }) => id)}::uuid[]) AS export (id)
    LEFT JOIN batch_export_progress ON batch_export_progress.batch_export_id = export.id`)
}

/** What the schedule of an export has not delivered. */
export type Debt = {
  batch_export_id: string
  /** Runs over ended intervals that have not delivered. */
  runs: number
  /** Start of the first of their intervals. */
  since: Date | null
  /** Rows that they have claimed, and the first of their positions. */
  claimed_rows: number
  claimed_from: number | null
  /** When the events that no run has claimed arrived: intervals that do not touch; null: without a bound. */
  open_from: (Date | null)[]
  open_to: (Date | null)[]
}

/** `open_since`: where the first interval without a run begins; null when there will be none. */
export function listDebts(
  db: Db,
  exports: readonly { id: string; open_since: Date | null }[],
): Promise<Debt[]> {
  return db.rows(sql`
    SELECT export.id AS batch_export_id, runs, since, claimed_rows, claimed_from, open_from, open_to
    FROM unnest(${exports.map(({ id }) => id)}::uuid[],
      ${exports.map(({ open_since }) => open_since)}::timestamptz[]) AS export (id, open_since)
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS runs, min(data_interval_start) AS since, min(first)::float8 AS claimed_from,
        coalesce(sum(coalesce(records_total_count, events)), 0)::float8 AS claimed_rows,
        coalesce(range_agg(tstzrange(data_interval_start, data_interval_end)) FILTER (WHERE NOT is_claimed
          AND coalesce(data_interval_start, '-infinity') <= data_interval_end), '{}')
          AS unclaimed
      FROM batch_export_run AS run CROSS JOIN LATERAL (
        SELECT min(lower(positions)) AS first, sum(coalesce(events, upper(positions) - lower(positions))) AS events
        FROM batch_export_claim WHERE run_id = run.id) AS claim
      WHERE run.batch_export_id = export.id AND selection = 'arrival' AND repeats IS NULL AND NOT is_delivered) AS owed
    CROSS JOIN LATERAL (
      SELECT max(data_interval_end) AS until FROM batch_export_run
      WHERE batch_export_id = export.id AND selection = 'arrival' AND repeats IS NULL) AS covered
    CROSS JOIN LATERAL (
      SELECT coalesce(array_agg(lower(part)), '{}') AS open_from, coalesce(array_agg(upper(part)), '{}') AS open_to
      FROM unnest(unclaimed + CASE WHEN open_since IS NULL THEN '{}'
        ELSE tstzmultirange(tstzrange(greatest(open_since, until), NULL)) END) AS part) AS open`)
}

export type Bound = { project_id: number; at: Date; seq: number }

/** Positions at these instants, as far as somebody has asked for them before. */
export function listBounds(db: Db, asked: readonly Omit<Bound, 'seq'>[]): Promise<Bound[]> {
  return db.rows(sql`
    SELECT project_id, at, seq::float8 AS seq
    FROM unnest(${asked.map(({ project_id }) => project_id)}::int[], ${asked.map(({ at }) => at)}::timestamptz[])
      AS asked (project_id, at)
    JOIN batch_export_bound USING (project_id, at)`)
}

/** Weight that the speed of earlier runs keeps with each new run. */
const SPEED_KEPT = 0.8

/**
 * What a run that has just completed changes, in the transaction that ends it. Only first attempts are timed: later ones
 * have waited in between.
 */
export async function keepProgress(
  tx: Db,
  run: Pick<RunRow, 'project_id' | 'id' | 'repeats'>,
  newest_arrival: Date | null,
): Promise<void> {
  await tx.run(sql`
    UPDATE batch_export_run SET is_delivered = true
    WHERE project_id = ${run.project_id} AND id = ${deliveryIdOf(run)} AND NOT is_delivered`)
  await tx.run(sql`
    INSERT INTO batch_export_progress AS kept (batch_export_id, newest_delivered_at, last_completed_at, timed_rows, timed_ms)
    SELECT batch_export_id, ${newest_arrival}::timestamptz, finished_at, CASE WHEN attempt = 1 THEN records_completed ELSE 0 END,
      CASE WHEN attempt = 1 AND records_completed > 0
        THEN 1000 * extract(epoch FROM finished_at - started_at) ELSE 0 END
    FROM batch_export_run WHERE project_id = ${run.project_id} AND id = ${run.id}
    ON CONFLICT (batch_export_id) DO UPDATE SET
      newest_delivered_at = greatest(kept.newest_delivered_at, EXCLUDED.newest_delivered_at),
      last_completed_at = greatest(kept.last_completed_at, EXCLUDED.last_completed_at),
      timed_rows = ${SPEED_KEPT} * kept.timed_rows + EXCLUDED.timed_rows,
      timed_ms = ${SPEED_KEPT} * kept.timed_ms + EXCLUDED.timed_ms`)
}

/** Live runs of all projects. */
export function countLiveRuns(db: Db): Promise<{ waiting: number; running: number }> {
  return db.only(sql`
    SELECT (count(*) FILTER (WHERE lease_owner IS NULL))::int AS waiting,
      (count(*) FILTER (WHERE lease_owner IS NOT NULL))::int AS running
    FROM batch_export_run WHERE finished_at IS NULL`)
}
