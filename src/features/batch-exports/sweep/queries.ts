// SQL statements of the sweep: uploads that runs have begun, runs that may have left something, and how far exports have
// been swept.
import type { Db } from '../../../platform/db/database.ts'
import { deleteInBatches } from '../../../platform/db/in-batches.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import type { OpenUpload } from '../destinations/destination.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { RUN_COLUMNS } from '../runs/columns.ts'

/** Half-open, of the instants at which runs ended. */
export type Stretch = { from: Date; until: Date }

/** Also by a worker that has lost the run meanwhile: what it began is ours all the same. */
export async function insertUpload(
  db: Db,
  run: Pick<RunRow, 'id' | 'project_id' | 'attempt'>,
  { name, id }: OpenUpload,
): Promise<void> {
  await db.run(sql`
    INSERT INTO batch_export_upload (project_id, run_id, attempt, name, upload_id)
    VALUES (${run.project_id}, ${run.id}, ${run.attempt}, ${name}, ${id})`)
}

/** An attempt at the run may have died, and the run is over. */
function isOver({ until }: Stretch): Statement {
  return sql`
    run.definition IS NOT NULL AND run.finished_at IS NOT NULL AND (run.status <> 'Completed' OR run.attempt > 1)
    AND run.finished_at < ${until}`
}

/**
 * Whoever worked on the run has let go long ago. Nor is it being done again: a run that repeats another uses the same names.
 */
function isSettled({ until }: Stretch): Statement {
  return sql`
    (run.lease_until IS NULL OR run.lease_until < ${until}) AND NOT EXISTS (
      SELECT 1 FROM batch_export_run AS other
      WHERE (other.repeats = coalesce(run.repeats, run.id) OR other.id = run.repeats)
        AND (other.finished_at IS NULL OR other.lease_owner IS NOT NULL))`
}

/** An export, and from when on its runs are to be looked after. */
export type UnsweptExport = ExportRow & { unswept_from: Date }

/** Over all projects, deleted exports too. In no order: should the time not do for all, others wait the next time. */
export function listExportsToSweep(db: Db, stretch: Stretch): Promise<UnsweptExport[]> {
  return db.rows(sql`
    SELECT batch_export.*, greatest(${stretch.from}::timestamptz, swept_until) AS unswept_from
    FROM batch_export LEFT JOIN batch_export_sweep ON batch_export_sweep.batch_export_id = batch_export.id
    WHERE EXISTS (
      SELECT 1 FROM batch_export_run AS run
      WHERE run.batch_export_id = batch_export.id AND ${isOver(stretch)} AND ${isSettled(stretch)}
        AND run.finished_at >= greatest(${stretch.from}::timestamptz, swept_until))
    ORDER BY random()`)
}

/** Those that are not settled are left to a later sweep. */
export function listRunsToSweep(
  db: Db,
  { project_id, id }: Pick<ExportRow, 'project_id' | 'id'>,
  stretch: Stretch,
): Promise<(RunRow & { is_settled: boolean })[]> {
  return db.rows(sql`
    SELECT ${RUN_COLUMNS}, ${isSettled(stretch)} AS is_settled FROM batch_export_run AS run
    WHERE project_id = ${project_id} AND batch_export_id = ${id} AND ${isOver(stretch)}
      AND finished_at >= ${stretch.from}
    ORDER BY finished_at, id`)
}

/** The attempt that completed a run has finished all of its uploads. */
export function listUploads(
  db: Db,
  project_id: number,
  run_ids: readonly string[],
): Promise<(OpenUpload & { run_id: string })[]> {
  return db.rows(sql`
    SELECT upload.run_id, upload.name, upload.upload_id AS id
    FROM batch_export_upload AS upload JOIN batch_export_run AS run ON run.id = upload.run_id
    WHERE upload.project_id = ${project_id} AND upload.run_id = ANY(${run_ids}::uuid[])
      AND NOT (run.status = 'Completed' AND upload.attempt = run.attempt)
    ORDER BY upload.id`)
}

/** What these runs left is gone, and with it everything that others left who ended before `until`. */
export async function markSwept(
  db: Db,
  { project_id, id }: Pick<ExportRow, 'project_id' | 'id'>,
  run_ids: readonly string[],
  until: Date,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(sql`
      DELETE FROM batch_export_upload WHERE project_id = ${project_id} AND run_id = ANY(${run_ids}::uuid[])`)
    await tx.run(sql`
      INSERT INTO batch_export_sweep (batch_export_id, project_id, swept_until) VALUES (${id}, ${project_id}, ${until})
      ON CONFLICT (batch_export_id) DO UPDATE SET swept_until = excluded.swept_until`)
  })
}

/** Over all projects: of runs that were completed at once, and of those that ended too long ago to be looked after. */
export function forgetUploads(db: Db, { from, until }: Stretch): Promise<number> {
  return deleteInBatches(
    db,
    (batch_size) => sql`
      DELETE FROM batch_export_upload WHERE id IN (
        SELECT upload.id FROM batch_export_upload AS upload JOIN batch_export_run AS run ON run.id = upload.run_id
        WHERE (run.finished_at < ${from} OR (run.finished_at < ${until} AND run.status = 'Completed' AND run.attempt = 1))
        LIMIT ${batch_size})`,
  )
}
