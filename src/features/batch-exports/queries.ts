// Every SQL statement about exports themselves. Deleted ones stay in the table for their runs, and nobody finds them.
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { assignments, sql, type Statement } from '../../platform/db/sql.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { ProjectInReach } from '../../platform/http/access.ts'
import type { Page } from '../../platform/http/paging.ts'
import { destinationKey } from './config.ts'
import type { ExportRow, RunRow } from './rows.ts'
import { RUN_COLUMNS } from './runs/columns.ts'

/** Whose exports: one project's, or those of the projects of an organization that the caller reaches (projects/access.ts). */
export type ExportOwner = { project_id: number } | { organization_id: string; reachable: Statement }

const LATEST_RUNS = 10

export function listExports(db: Db, owner: ExportOwner, page: Page): Promise<ExportRow[]> {
  return db.rows(sql`
    SELECT * FROM batch_export WHERE ${ofOwner(owner)} AND deleted_at IS NULL
    ORDER BY created_at DESC, id DESC LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countExports(db: Db, owner: ExportOwner): Promise<number> {
  const row = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM batch_export WHERE ${ofOwner(owner)} AND deleted_at IS NULL`,
  )
  return row.count
}

/** 404 for what is no id, unknown, deleted, or another project's. */
export async function getExport(db: Db, project_id: number, id: string): Promise<ExportRow> {
  const row = isUuid(id) ? await findExport(db, project_id, id) : undefined
  if (!row) throw notFound()
  return row
}

function findExport(db: Db, project_id: number, id: string): Promise<ExportRow | undefined> {
  return db.row(
    sql`SELECT * FROM batch_export WHERE project_id = ${project_id} AND id = ${id} AND deleted_at IS NULL`,
  )
}

/** For paths that name the organization alone. */
export async function getProjectOfExport(
  db: Db,
  organization_id: string,
  reachable: Statement,
  id: string,
): Promise<ProjectInReach> {
  const row = isUuid(id) ? await findProjectOfExport(db, organization_id, reachable, id) : undefined
  if (!row) throw notFound()
  return row
}

function findProjectOfExport(
  db: Db,
  organization_id: string,
  reachable: Statement,
  id: string,
): Promise<ProjectInReach | undefined> {
  return db.row(sql`
    SELECT project.id, project.organization_id, project.name, project.timezone
    FROM project JOIN batch_export ON batch_export.project_id = project.id
    WHERE project.organization_id = ${organization_id} AND batch_export.id = ${id} AND deleted_at IS NULL
      AND ${reachable}`)
}

/** As it stands now, and until the transaction ends; runs can still be added to it. */
export function lockExport(db: Db, project_id: number, id: string): Promise<ExportRow> {
  return db.only(sql`
    SELECT * FROM batch_export WHERE project_id = ${project_id} AND id = ${id} AND deleted_at IS NULL
    FOR NO KEY UPDATE`)
}

export type NewExport = Omit<ExportRow, 'notified_at' | 'deleted_at' | 'destination_key'>

export function insertExport(db: Db, row: NewExport): Promise<ExportRow> {
  return db.only(sql`
    INSERT INTO batch_export (id, project_id, name, model, destination_type, destination_alias, config, secrets, interval, timezone,
      offset_day, offset_hour, paused, last_paused_at, start_at, end_at, hogql_query, schema, filters, next_due_at,
      created_by, created_at, last_updated_at, destination_key)
    VALUES (${row.id}, ${row.project_id}, ${row.name}, ${row.model}, ${row.destination_type},
      ${row.destination_alias}, ${row.config}, ${row.secrets}, ${row.interval}, ${row.timezone}, ${row.offset_day}, ${row.offset_hour}, ${row.paused},
      ${row.last_paused_at}, ${row.start_at}, ${row.end_at}, ${row.hogql_query}, ${row.schema}, ${asJson(row.filters)},
      ${row.next_due_at}, ${row.created_by}, ${row.created_at}, ${row.last_updated_at},
      ${destinationKey(row.destination_type, row.config)})
    RETURNING *`)
}

export function updateExport(
  db: Db,
  { project_id, id }: Pick<ExportRow, 'project_id' | 'id'>,
  columns: Partial<ExportRow>,
  now: Date,
): Promise<ExportRow> {
  const { filters, ...plain } = columns
  const changed = {
    ...plain,
    ...(filters === undefined ? {} : { filters: asJson(filters) }),
    last_updated_at: now,
  }
  return db.only(sql`
    UPDATE batch_export SET ${assignments(changed)}
    WHERE project_id = ${project_id} AND id = ${id} AND deleted_at IS NULL RETURNING *`)
}

/** Each one's newest runs, newest first. */
export function listLatestRuns(
  db: Db,
  exports: readonly Pick<ExportRow, 'project_id' | 'id'>[],
): Promise<RunRow[]> {
  const ids = exports.map(({ id }) => id)
  const project_ids = exports.map(({ project_id }) => project_id)
  return db.rows(sql`
    SELECT run.* FROM unnest(${project_ids}::int[], ${ids}::uuid[]) AS export (project_id, id)
    CROSS JOIN LATERAL (
      SELECT ${RUN_COLUMNS} FROM batch_export_run
      WHERE batch_export_run.project_id = export.project_id AND batch_export_id = export.id
      ORDER BY created_at DESC, id DESC LIMIT ${LATEST_RUNS}) AS run
    ORDER BY run.created_at DESC, run.id DESC`)
}

export type EndedRuns = { begins_at: Date; successes: number; successes_on_retry: number; failures: number }

/** How runs ended, by the hour or the day of UTC from `from` on. Those that somebody stopped are neither. */
export function countEndedRuns(
  db: Db,
  { project_id, id }: Pick<ExportRow, 'project_id' | 'id'>,
  { from, to, bucket }: { from: Date; to: Date; bucket: 'hour' | 'day' },
): Promise<EndedRuns[]> {
  return db.rows(sql`
    SELECT date_bin(${`1 ${bucket}`}::interval, finished_at, ${from}::timestamptz) AS begins_at,
      (count(*) FILTER (WHERE status = 'Completed' AND failures = 0))::int AS successes,
      (count(*) FILTER (WHERE status = 'Completed' AND failures > 0))::int AS successes_on_retry,
      (count(*) FILTER (WHERE status IN ('Failed', 'FailedRetryable', 'TimedOut')))::int AS failures
    FROM batch_export_run
    WHERE project_id = ${project_id} AND batch_export_id = ${id} AND finished_at >= ${from} AND finished_at < ${to}
    GROUP BY begins_at`)
}

/** For a change of SECRET_KEY, over all projects. */
export function listSealed(db: Db): Promise<Pick<ExportRow, 'project_id' | 'id' | 'secrets'>[]> {
  return db.rows(sql`SELECT project_id, id, secrets FROM batch_export`)
}

/** Does nothing when somebody has changed the secrets meanwhile. No change to the export: its times stay. */
export async function replaceSealed(
  db: Db,
  { project_id, id, secrets }: Pick<ExportRow, 'project_id' | 'id' | 'secrets'>,
  sealed: string,
): Promise<void> {
  await db.run(sql`
    UPDATE batch_export SET secrets = ${sealed}
    WHERE project_id = ${project_id} AND id = ${id} AND secrets = ${secrets}`)
}

function ofOwner(owner: ExportOwner): Statement {
  return 'project_id' in owner
    ? sql`project_id = ${owner.project_id}`
    : sql`project_id IN (
        SELECT id FROM project WHERE organization_id = ${owner.organization_id} AND ${owner.reachable})`
}

/** The driver takes a list for an array of PostgreSQL's. */
function asJson(list: readonly unknown[] | null): string | null {
  return list === null ? null : JSON.stringify(list)
}
