// SQL statements that count what the runs of a schedule have done with the positions they own.
import type { Db } from '../../../platform/db/database.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'
import type { DeliveredFile } from '../destinations/destination.ts'
import type { ExportRow, RunStatus } from '../rows.ts'

export type Owner = Pick<ExportRow, 'id' | 'project_id'>

/** The last position that arrived before an instant. */
export type Edge = { at: Date; seq: number }

/** What is known of positions besides those that runs have frozen. */
export type Line = { last_position: number; edges: readonly Edge[] }

export type IntervalRow = {
  run: string
  status: RunStatus
  data_interval_start: Date | null
  data_interval_end: Date
  records_total_count: number | null
  received: number
  exported: number
  filtered_out: number
  pending: number
  skipped: number
  files: DeliveredFile[] | null
}

export type Sums = {
  intervals: number
  exported: number
  filtered_out: number
  pending: number
  /** The last position that an interval owns. */
  reached: number
}

/** The export and its schedule as they stand at one moment. */
export type Outline = ExportRow & {
  intervals: number
  /** Those that bound runs whose positions nobody has frozen: waiting, or cancelled while they were. */
  open_instants: Date[]
}

export function readOutline(db: Db, owner: Owner): Promise<Outline> {
  return db.only(sql`
    SELECT batch_export.*,
      (SELECT count(DISTINCT data_interval_end)::int FROM batch_export_run WHERE ${ofSchedule(owner)}) AS intervals,
      ARRAY(SELECT DISTINCT at FROM batch_export_run, unnest(ARRAY[data_interval_start, data_interval_end]) AS at
        WHERE ${ofSchedule(owner)} AND seq_to IS NULL AND at IS NOT NULL) AS open_instants
    FROM batch_export WHERE project_id = ${owner.project_id} AND id = ${owner.id}`)
}

/** Newest first. */
export function listIntervals(db: Db, owner: Owner, line: Line, page: Page): Promise<IntervalRow[]> {
  return db.rows(sql`
    WITH ${counted(owner, line)},
    shown AS (SELECT * FROM counted ORDER BY data_interval_end DESC LIMIT ${page.limit} OFFSET ${page.offset})
    SELECT shown.id AS run, shown.status, shown.data_interval_start, shown.data_interval_end,
      shown.records_total_count, shown.received::float8, shown.exported::float8, shown.filtered_out::float8,
      shown.pending::float8, shown.skipped::float8, files
    FROM shown JOIN batch_export_run ON batch_export_run.project_id = ${owner.project_id}
      AND batch_export_run.id = shown.id
    ORDER BY shown.data_interval_end DESC`)
}

export function sumIntervals(db: Db, owner: Owner, line: Line): Promise<Sums> {
  return db.only(sql`
    WITH ${counted(owner, line)}
    SELECT count(*)::int AS intervals, coalesce(sum(exported), 0)::float8 AS exported,
      coalesce(sum(filtered_out), 0)::float8 AS filtered_out, coalesce(sum(pending), 0)::float8 AS pending,
      coalesce(max(position_to), 0)::float8 AS reached
    FROM counted`)
}

export async function sumBackfilled(db: Db, owner: Owner): Promise<number> {
  const { sum } = await db.only<{ sum: number }>(sql`
    SELECT coalesce(sum(records_completed), 0)::float8 AS sum FROM batch_export_run
    WHERE project_id = ${owner.project_id} AND batch_export_id = ${owner.id} AND selection = 'timestamp'
      AND status = 'Completed'`)
  return sum
}

/** A run that repeats another has its interval and its positions. */
function ofSchedule({ id, project_id }: Owner): Statement {
  return sql`project_id = ${project_id} AND batch_export_id = ${id} AND selection = 'arrival'`
}

/**
 * One row for each interval, under the name `counted`. Of what an interval received, `matching` passed the filters, as
 * far as that is known. A run whose edges are not known owns nothing, even if the upper one is known by chance.
 */
function counted(owner: Owner, { last_position, edges }: Line): Statement {
  return sql`
    decided AS (
      SELECT DISTINCT ON (data_interval_end) id, status, data_interval_start, data_interval_end, seq_from, seq_to,
        records_total_count, records_completed
      FROM batch_export_run WHERE ${ofSchedule(owner)}
      ORDER BY data_interval_end DESC, (status = 'Completed') DESC, created_at DESC, id DESC),
    edge AS (SELECT * FROM unnest(${edges.map(({ at }) => at)}::timestamptz[],
      ${edges.map(({ seq }) => seq)}::bigint[]) AS edge (at, seq)),
    bounded AS (
      SELECT decided.*, coalesce(decided.seq_from, lower_edge.seq, ${last_position}::bigint) AS lower,
        coalesce(decided.seq_to, upper_edge.seq, ${last_position}::bigint) AS position_to
      FROM decided LEFT JOIN edge AS lower_edge ON lower_edge.at = data_interval_start
        LEFT JOIN edge AS upper_edge ON upper_edge.at = data_interval_end),
    placed AS (SELECT bounded.*, least(lower, position_to) AS position_from FROM bounded),
    matched AS (
      SELECT placed.*, position_to - position_from AS received, status = 'Completed' AS is_done,
        coalesce(records_total_count, CASE status WHEN 'Completed' THEN records_completed END,
          position_to - position_from) AS matching,
        CASE status WHEN 'Completed' THEN coalesce(records_completed, 0) ELSE 0 END AS exported
      FROM placed),
    counted AS (
      SELECT matched.*, received - matching AS filtered_out,
        CASE WHEN is_done THEN 0 ELSE matching END AS pending,
        CASE WHEN is_done THEN matching - exported ELSE 0 END AS skipped
      FROM matched)`
}
