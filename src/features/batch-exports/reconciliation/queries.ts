// SQL statements that count what the runs of an export have done with the events they have claimed.
import type { Db } from '../../../platform/db/database.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import type { Page } from '../../../platform/http/paging.ts'
import type { DeliveredFile } from '../destinations/destination.ts'
import { isDecisive } from '../ledger/queries.ts'
import type { ExportRow, RunStatus } from '../rows.ts'

export type Owner = Pick<ExportRow, 'id' | 'project_id'>

/** The export and its schedule as they stand at one moment. */
export type Outline = ExportRow & {
  intervals: number
  /** Intervals that wait for their run to claim events, or whose run ended before it did. */
  open_intervals: { delivery_id: string; start: Date | null; end: Date }[]
}

export async function readOutline(db: Db, owner: Owner): Promise<Outline> {
  const row = await db.only<ExportRow & { intervals: number }>(sql`
    SELECT batch_export.*, (SELECT count(*)::int FROM batch_export_run WHERE ${isInterval(owner)}) AS intervals
    FROM batch_export WHERE project_id = ${owner.project_id} AND id = ${owner.id}`)
  const open_intervals = await db.rows<Outline['open_intervals'][number]>(sql`
    SELECT id AS delivery_id, data_interval_start AS start, data_interval_end AS end FROM batch_export_run
    WHERE ${isInterval(owner)} AND NOT is_claimed ORDER BY data_interval_end, id`)
  return { ...row, open_intervals }
}

export type Sums = {
  exported: number
  filtered_out: number
  pending: number
  /** Rows that backfills brought, part of `exported`. */
  backfilled: number
  /** The last position that a run has claimed. */
  reached: number
}

export function sumDeliveries(db: Db, owner: Owner): Promise<Sums> {
  const sum = (what: Statement) => sql`coalesce(sum(${what}), 0)::float8`
  return db.only(sql`
    WITH ${counted(owner)}
    SELECT ${sum(sql`exported`)} AS exported, ${sum(sql`events - matching`)} AS filtered_out,
      ${sum(sql`CASE WHEN is_done THEN 0 ELSE matching END`)} AS pending,
      ${sum(sql`exported * (selection = 'timestamp')::int`)} AS backfilled,
      coalesce((SELECT max(upper(positions)) - 1 FROM batch_export_claim WHERE batch_export_id = ${owner.id}),
        0)::float8 AS reached
    FROM counted`)
}

/** A scheduled interval as its runs and its claims have it, before what backfills took of it is added. */
export type CountedInterval = {
  delivery_id: string
  run: string
  status: RunStatus
  data_interval_start: Date | null
  data_interval_end: Date
  records_total_count: number | null
  is_claimed: boolean
  /** Events of its own; null where they are no events. */
  events: number | null
  matching: number | null
  exported: number
  is_done: boolean
  files: DeliveredFile[] | null
}

/** Newest first. */
export function listIntervals(db: Db, owner: Owner, page: Page): Promise<CountedInterval[]> {
  return db.rows(sql`
    WITH ${counted(owner)},
    shown AS (
      SELECT * FROM counted WHERE selection = 'arrival'
      ORDER BY data_interval_end DESC LIMIT ${page.limit} OFFSET ${page.offset})
    SELECT shown.delivery_id, shown.id AS run, shown.status, shown.data_interval_start, shown.data_interval_end,
      shown.records_total_count, is_claimed, events::float8, matching::float8,
      exported::float8, is_done,
      (SELECT files FROM batch_export_run WHERE project_id = ${owner.project_id} AND id = shown.id) AS files
    FROM shown ORDER BY shown.data_interval_end DESC`)
}

export type ShownShare = {
  interval_run_id: string
  run_id: string
  events: number
  rows: number
  is_done: boolean
}

/** What backfills have taken of intervals, as those of their runs have it that count. */
export function listShares(db: Db, interval_run_ids: readonly string[]): Promise<ShownShare[]> {
  return db.rows(sql`
    SELECT interval_run_id, run_id, events::float8 AS events, rows::float8 AS rows, status = 'Completed' AS is_done
    FROM batch_export_share JOIN batch_export_run AS run ON run.id = run_id
    WHERE interval_run_id = ANY(${interval_run_ids}::uuid[]) AND ${isDecisive(sql`run`)} ORDER BY run_id`)
}

/** Which of these deliveries are at the destination. */
export async function listDelivered(db: Db, run_ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.rows<{ id: string }>(sql`
    SELECT id FROM unnest(${run_ids}::uuid[]) AS delivery (id)
    WHERE EXISTS (SELECT 1 FROM batch_export_run AS run
      WHERE (run.id = delivery.id OR run.repeats = delivery.id) AND run.status = 'Completed')`)
  return new Set(rows.map(({ id }) => id))
}

function isInterval({ id, project_id }: Owner): Statement {
  return sql`project_id = ${project_id} AND batch_export_id = ${id} AND selection = 'arrival' AND repeats IS NULL`
}

/**
 * One row for each delivery, under the name `counted`, from the run that counts: the last completed one, else the last.
 * `matching` is how many of its claimed events passed the filters, as far as that is known. Backfills from before the
 * ledger may have brought more rows than they own: the others belong to their owners.
 */
function counted({ id, project_id }: Owner): Statement {
  return sql`
    own AS (
      SELECT *, coalesce(repeats, id) AS delivery_id FROM batch_export_run
      WHERE project_id = ${project_id} AND batch_export_id = ${id}),
    decisive AS (
      SELECT DISTINCT ON (delivery_id) delivery_id, id, status, selection, data_interval_start, data_interval_end,
        records_total_count, records_completed, status = 'Completed' AS is_done
      FROM own ORDER BY delivery_id, (status = 'Completed') DESC, created_at DESC, id DESC),
    first AS (SELECT id AS delivery_id, is_claimed FROM own WHERE repeats IS NULL),
    claimed AS (
      SELECT run_id AS delivery_id, sum(events) AS claimed FROM batch_export_claim
      WHERE batch_export_id = ${id} GROUP BY run_id),
    owned AS (
      SELECT decisive.*, is_claimed, CASE WHEN model = 'events' THEN coalesce(claimed, 0) END AS events
      FROM decisive JOIN first USING (delivery_id) LEFT JOIN claimed USING (delivery_id),
        (SELECT model FROM batch_export WHERE project_id = ${project_id} AND id = ${id}) AS of_export),
    counted AS (
      SELECT *,
        least(coalesce(records_total_count, CASE WHEN is_done THEN records_completed END, events), events) AS matching,
        CASE WHEN is_done THEN least(coalesce(records_completed, 0), events) ELSE 0 END AS exported
      FROM owned)`
}
