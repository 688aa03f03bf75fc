// SQL statements that read runs for the API. Those of the engine are in queries.ts.
import { isUuid } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { joinSql, sql, type Statement } from '../../../platform/db/sql.ts'
import { notFound } from '../../../platform/http/errors.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { BUSY, DESTINATION_OF_RUN, IS_INTERVAL_TAKEN } from './claimable.ts'
import { RUN_COLUMNS } from './columns.ts'
import { invalidCursor, type Cursor } from './cursor.ts'
import type { Obstacles } from './waiting.ts'

/** Every read is fenced to one export of one project. */
export type RunOwner = Pick<ExportRow, 'id' | 'project_id'>

export type RunFilter = {
  by: 'created_at' | 'data_interval_start'
  is_newest_first: boolean
  /** Inclusive bounds for `created_at`, or for the interval's start and end. */
  from: string
  to: string
  status: readonly string[] | null
}

export async function getRun(db: Db, owner: RunOwner, id: string): Promise<RunRow> {
  const row = isUuid(id) ? await findRun(db, owner, id) : undefined
  if (!row) throw notFound()
  return row
}

function findRun(db: Db, owner: RunOwner, id: string): Promise<RunRow | undefined> {
  return db.row(sql`SELECT ${RUN_COLUMNS} FROM batch_export_run WHERE ${ofExport(owner)} AND id = ${id}`)
}

/** The run over what arrived until an instant that one ends at. */
export function getIntervalRun(db: Db, owner: RunOwner, end: Date): Promise<RunRow> {
  return db.only(sql`
    SELECT ${RUN_COLUMNS} FROM batch_export_run
    WHERE ${ofExport(owner)} AND selection = 'arrival' AND repeats IS NULL AND data_interval_end = ${end}
    ORDER BY created_at DESC, id DESC LIMIT 1`)
}

/** The runs next to the cursor in its direction, nearest first; from the beginning without one. */
export async function listRuns(
  db: Db,
  owner: RunOwner,
  filter: RunFilter,
  cursor: Cursor | null,
  limit: number,
): Promise<RunRow[]> {
  if (cursor && !(await findRun(db, owner, cursor.id))) throw invalidCursor()
  const by = filter.by === 'created_at' ? sql`created_at` : sql`data_interval_start`
  const goesDown = filter.is_newest_first === (cursor?.towards !== 'previous')
  const place =
    cursor && sql`(SELECT ${by}, id FROM batch_export_run WHERE ${ofExport(owner)} AND id = ${cursor.id})`
  const beyond = place === null ? [] : [goesDown ? sql`(${by}, id) < ${place}` : sql`(${by}, id) > ${place}`]
  const order = goesDown ? sql`${by} DESC, id DESC` : sql`${by}, id`
  return db.rows(sql`
    SELECT ${RUN_COLUMNS} FROM batch_export_run
    WHERE ${joinSql([ofExport(owner), ...conditions(filter), ...beyond], ' AND ')} ORDER BY ${order} LIMIT ${limit}`)
}

/** What keeps the unfinished runs that nobody works on from starting, by run id. */
export async function findObstacles(
  db: Db,
  runs: readonly RunRow[],
): Promise<ReadonlyMap<string, Obstacles>> {
  const idle = runs.filter(({ finished_at, lease_owner }) => finished_at === null && lease_owner === null)
  if (idle.length === 0) return new Map()
  const rows = await db.rows<Omit<Obstacles, 'breaker'> & { id: string } & Nullable<Breaker>>(sql`
    WITH ${BUSY}
    SELECT run.id, breaker.failures, breaker.probe_at, coalesce(slot.active, 0) AS active,
      coalesce(busy.runs, 0) AS at_destination, ${IS_INTERVAL_TAKEN} AS is_interval_taken
    FROM unnest(${idle.map(({ project_id }) => project_id)}::int[], ${idle.map(({ id }) => id)}::uuid[])
      AS asked (project_id, id)
    JOIN batch_export_run AS run ON run.project_id = asked.project_id AND run.id = asked.id ${DESTINATION_OF_RUN}
    LEFT JOIN batch_export_slot AS slot ON slot.project_id = run.project_id`)
  return new Map(
    rows.map(({ id, failures, probe_at, ...others }) => {
      const breaker = failures === null || probe_at === null ? null : { failures, probe_at }
      return [id, { ...others, breaker }]
    }),
  )
}

type Breaker = NonNullable<Obstacles['breaker']>
type Nullable<Row> = { [Key in keyof Row]: Row[Key] | null }

function ofExport({ id, project_id }: RunOwner): Statement {
  return sql`project_id = ${project_id} AND batch_export_id = ${id}`
}

/** A run from the beginning of time starts before any instant, so no range of starts holds it. */
function conditions({ by, from, to, status }: RunFilter): Statement[] {
  const isInRange =
    by === 'created_at'
      ? sql`created_at BETWEEN ${from} AND ${to}`
      : sql`data_interval_start >= ${from} AND data_interval_end <= ${to}`
  return status === null ? [isInRange] : [isInRange, sql`status = ANY(${status})`]
}
