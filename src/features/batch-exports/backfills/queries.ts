// SQL statements that make backfills and move them on.
import { uuid7 } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { BackfillRow, ExportRow, RunRow } from '../rows.ts'
import { BACKFILL_COLUMNS, RUN_COLUMNS } from '../runs/columns.ts'
import type { BackfillRange } from './plan.ts'

/** Until the transaction ends nobody else begins a backfill in the project: their number is limited. */
export async function lockBackfills(tx: Db, project_id: number): Promise<void> {
  await tx.only(sql`SELECT id FROM project WHERE id = ${project_id} FOR NO KEY UPDATE`)
}

export async function countLiveBackfills(tx: Db, project_id: number): Promise<number> {
  const { count } = await tx.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM batch_export_backfill
    WHERE project_id = ${project_id} AND status IN ('Starting', 'Running')`)
  return count
}

export function listLiveBackfills(
  tx: Db,
  { project_id, id }: Pick<ExportRow, 'project_id' | 'id'>,
): Promise<Pick<BackfillRow, 'project_id' | 'id'>[]> {
  return tx.rows(sql`
    SELECT project_id, id FROM batch_export_backfill
    WHERE project_id = ${project_id} AND batch_export_id = ${id} AND status IN ('Starting', 'Running')`)
}

/** A live one of the same kind over the same range. */
export function findSameBackfill(
  tx: Db,
  { project_id, id }: Pick<ExportRow, 'project_id' | 'id'>,
  { kind, start_at, end_at }: BackfillRange & Pick<BackfillRow, 'kind'>,
): Promise<{ id: string } | undefined> {
  return tx.row(sql`
    SELECT id FROM batch_export_backfill
    WHERE project_id = ${project_id} AND batch_export_id = ${id} AND status IN ('Starting', 'Running')
      AND kind = ${kind} AND start_at IS NOT DISTINCT FROM ${start_at}::timestamptz
      AND end_at IS NOT DISTINCT FROM ${end_at}::timestamptz
    ORDER BY created_at LIMIT 1`)
}

/** A live one that repeats the same run. */
export function findRetry(tx: Db, project_id: number, retry_of: string): Promise<{ id: string } | undefined> {
  return tx.row(sql`
    SELECT id FROM batch_export_backfill
    WHERE project_id = ${project_id} AND retry_of = ${retry_of} AND status IN ('Starting', 'Running') LIMIT 1`)
}

type NewBackfill = Omit<BackfillRow, 'id' | 'created_at' | 'finished_at' | 'last_updated_at'>

export async function insertBackfill(tx: Db, fields: NewBackfill, now: Date): Promise<string> {
  const id = uuid7(now)
  await tx.run(sql`
    INSERT INTO batch_export_backfill (id, project_id, batch_export_id, kind, start_at, end_at, adjusted_start_at,
      retry_of, seq_to, status, total_runs, next_end_at, last_end_at, queue, rows_to_deliver, rows_delivered_before,
      created_at, last_updated_at)
    VALUES (${id}, ${fields.project_id}, ${fields.batch_export_id}, ${fields.kind}, ${fields.start_at}, ${fields.end_at},
      ${fields.adjusted_start_at}, ${fields.retry_of}, ${fields.seq_to}, ${fields.status}, ${fields.total_runs},
      ${fields.next_end_at}, ${fields.last_end_at}, ${fields.queue}::uuid[], ${fields.rows_to_deliver},
      ${fields.rows_delivered_before}, ${now}, ${now})`)
  return id
}

/** Over all projects: those that have room for another run, or none at work. Oldest first. */
export async function listMovableBackfills(db: Db, max_live: number): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    SELECT id FROM batch_export_backfill AS backfill
    WHERE status IN ('Starting', 'Running') AND (
      SELECT count(*) FROM batch_export_run AS run
      WHERE run.batch_export_id = backfill.batch_export_id AND run.backfill_id = backfill.id AND run.finished_at IS NULL)
      < CASE WHEN next_end_at IS NULL AND queue = '{}' THEN 1 ELSE ${max_live}::int END
    ORDER BY created_at, id`)
  return rows.map(({ id }) => id)
}

/** While it is live; not when somebody else is moving it on, or cancelling it. */
export function lockLiveBackfill(tx: Db, id: string): Promise<BackfillRow | undefined> {
  return tx.row(sql`
    SELECT ${BACKFILL_COLUMNS} FROM batch_export_backfill WHERE id = ${id} AND status IN ('Starting', 'Running')
    FOR NO KEY UPDATE SKIP LOCKED`)
}

/** The export it belongs to; undefined when that was deleted. */
export function findExportOf(tx: Db, backfill: BackfillRow): Promise<ExportRow | undefined> {
  return tx.row(sql`
    SELECT * FROM batch_export
    WHERE project_id = ${backfill.project_id} AND id = ${backfill.batch_export_id} AND deleted_at IS NULL`)
}

/** Deliveries of the intervals that end in (start_at, end_at] which are at the destination, in order. */
export function listDelivered(
  tx: Db,
  { project_id, id }: Pick<ExportRow, 'project_id' | 'id'>,
  { start_at, end_at }: BackfillRange,
): Promise<{ run_id: string; records_completed: number }[]> {
  return tx.rows(sql`
    SELECT run_id, records_completed FROM (
      SELECT DISTINCT ON (coalesce(repeats, id)) coalesce(repeats, id) AS run_id, data_interval_end, records_completed
      FROM batch_export_run
      WHERE project_id = ${project_id} AND batch_export_id = ${id} AND status = 'Completed' AND records_completed > 0
        AND data_interval_end <= ${end_at} AND (data_interval_end > ${start_at} OR ${start_at}::timestamptz IS NULL)
      ORDER BY coalesce(repeats, id), created_at DESC) AS delivered
    ORDER BY data_interval_end, run_id`)
}

/** Where intervals of a weekly export begin and end: off its weeks where a run was asked for, or the interval has changed. */
export async function listRunBounds(
  tx: Db,
  { project_id, id, interval }: Pick<ExportRow, 'project_id' | 'id' | 'interval'>,
): Promise<Date[]> {
  if (interval !== 'week') return []
  const rows = await tx.rows<{ at: Date }>(sql`
    SELECT DISTINCT unnest(ARRAY[data_interval_start, data_interval_end]) AS at FROM batch_export_run
    WHERE project_id = ${project_id} AND batch_export_id = ${id} AND data_interval_start IS NOT NULL`)
  return rows.map(({ at }) => at)
}

/** First runs of deliveries, in the order of the ids. */
export function listFirstRuns(tx: Db, project_id: number, ids: readonly string[]): Promise<RunRow[]> {
  return tx.rows(sql`
    SELECT ${RUN_COLUMNS} FROM batch_export_run WHERE project_id = ${project_id} AND id = ANY(${ids}::uuid[])
    ORDER BY array_position(${ids}::uuid[], id)`)
}

/** What the last run of a delivery that got through was made of. */
export async function findDelivered(
  tx: Db,
  project_id: number,
  delivery_id: string,
): Promise<RunRow | undefined> {
  return tx.row(sql`
    SELECT ${RUN_COLUMNS} FROM batch_export_run
    WHERE project_id = ${project_id} AND (id = ${delivery_id} OR repeats = ${delivery_id}) AND status = 'Completed'
    ORDER BY created_at DESC, id DESC LIMIT 1`)
}

/** Its runs at work, and the end of its last interval that has one. */
export function standingOf(
  tx: Db,
  backfill: BackfillRow,
): Promise<{ live_runs: number; last_end: Date | null }> {
  return tx.only(sql`
    SELECT
      (SELECT count(*)::int FROM batch_export_run
        WHERE project_id = ${backfill.project_id} AND batch_export_id = ${backfill.batch_export_id}
          AND backfill_id = ${backfill.id} AND finished_at IS NULL) AS live_runs,
      (SELECT max(data_interval_end) FROM batch_export_run
        WHERE project_id = ${backfill.project_id} AND backfill_id = ${backfill.id} AND repeats IS NULL) AS last_end`)
}

export async function updateProgress(
  tx: Db,
  { project_id, id }: BackfillRow,
  { next_end_at, queue }: Pick<BackfillRow, 'next_end_at' | 'queue'>,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    UPDATE batch_export_backfill SET status = 'Running', next_end_at = ${next_end_at}, queue = ${queue}::uuid[],
      last_updated_at = ${now}
    WHERE project_id = ${project_id} AND id = ${id}`)
}

/** False: it has ended already. */
export async function endBackfill(
  tx: Db,
  { project_id, id }: Pick<BackfillRow, 'project_id' | 'id'>,
  status: 'Completed' | 'Cancelled',
  now: Date,
): Promise<boolean> {
  const count = await tx.run(sql`
    UPDATE batch_export_backfill SET status = ${status}, finished_at = ${now}, last_updated_at = ${now}
    WHERE project_id = ${project_id} AND id = ${id} AND status IN ('Starting', 'Running')`)
  return count === 1
}
