// SQL statements of the ledger: which areas of the events belong to which run of an export.
import type { Db } from '../../../platform/db/database.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import type { PositionRange } from '../../../platform/event-store/event-store.ts'
import type { Area } from '../../../platform/event-store/export-rows.ts'
import type { Definition } from '../definition.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { RUN_COLUMNS } from '../runs/columns.ts'

export type Claim = Area & {
  run_id: string
  /** Null until they were counted. */
  events: number | null
}

export type Positions = Pick<Area, 'seq_from' | 'seq_to'>

/** Until the transaction ends nobody else claims events of this export. */
export async function lockLedger(tx: Db, project_id: number, batch_export_id: string): Promise<void> {
  await tx.run(sql`
    SELECT FROM batch_export WHERE project_id = ${project_id} AND id = ${batch_export_id} FOR NO KEY UPDATE`)
}

/** True for the first who asks: they make the claims of this delivery, out of these positions. */
export async function beginClaim(
  tx: Db,
  project_id: number,
  delivery_id: string,
  { seq_from, seq_to }: Positions,
): Promise<boolean> {
  const count = await tx.run(sql`
    UPDATE batch_export_run SET is_claimed = true, seq_from = ${seq_from}, seq_to = ${seq_to}
    WHERE project_id = ${project_id} AND id = ${delivery_id} AND NOT is_claimed`)
  return count === 1
}

/** What others have claimed of an area; runs of the schedule, which are many, as the stretches that they form together. */
export function listTaken(tx: Db, batch_export_id: string, area: Area): Promise<Area[]> {
  return listStretches(tx, batch_export_id, area, sql`true`)
}

/** What of it is not at the destination: its runs go on, or none of them ended well. */
export function listUndelivered(tx: Db, batch_export_id: string, area: Area): Promise<Area[]> {
  const isDelivered = sql`EXISTS (
    SELECT 1 FROM batch_export_run AS run WHERE (run.id = claim.run_id OR run.repeats = claim.run_id)
      AND run.status = 'Completed')`
  return listStretches(tx, batch_export_id, area, sql`NOT ${isDelivered}`)
}

/** `condition` is about `claim`. */
function listStretches(tx: Db, batch_export_id: string, area: Area, condition: Statement): Promise<Area[]> {
  const overlaps = sql`batch_export_id = ${batch_export_id} AND positions && ${positionsOf(area)}
    AND times && ${timesOf(area)} AND ${condition}`
  return tx.rows(sql`
    WITH overlapping AS (SELECT positions, times FROM batch_export_claim AS claim WHERE ${overlaps}),
    taken AS (
      SELECT unnest(range_agg(positions)) AS positions, times FROM overlapping
      WHERE times = tstzrange(NULL, NULL) GROUP BY times
      UNION ALL SELECT positions, times FROM overlapping WHERE times <> tstzrange(NULL, NULL))
    SELECT ${AREA} FROM taken`)
}

export async function insertClaims(
  tx: Db,
  batch_export_id: string,
  run_id: string,
  claims: readonly Omit<Claim, 'run_id'>[],
): Promise<void> {
  await tx.run(sql`
    INSERT INTO batch_export_claim (batch_export_id, run_id, positions, times, events)
    SELECT ${batch_export_id}::uuid, ${run_id}::uuid, int8range(seq_from, seq_to, '(]'), tstzrange(time_from, time_to), events
    FROM ${tableOf(claims)}`)
}

/** Claims of these deliveries, in order of their positions. */
export function listClaims(db: Db, batch_export_id: string, run_ids: readonly string[]): Promise<Claim[]> {
  return db.rows(sql`
    SELECT ${CLAIM} FROM batch_export_claim
    WHERE batch_export_id = ${batch_export_id} AND run_id = ANY(${run_ids}::uuid[])
    ORDER BY positions, times`)
}

/** Claims of backfills that reach into the positions: events there have gone out, or will, outside of the schedule. */
export function listBackfilled(
  db: Db,
  batch_export_id: string,
  { seq_from, seq_to }: Positions,
): Promise<Claim[]> {
  return db.rows(sql`
    SELECT ${CLAIM} FROM batch_export_claim
    WHERE batch_export_id = ${batch_export_id} AND positions && int8range(${seq_from}, ${seq_to}, '(]')
      AND (SELECT selection FROM batch_export_run WHERE id = run_id) = 'timestamp'`)
}

/** Positions among these that runs of the schedule have chosen from: what others had left of them is theirs. */
export function listScheduled(
  db: Db,
  project_id: number,
  batch_export_id: string,
  { seq_from, seq_to }: Positions,
): Promise<Positions[]> {
  return db.rows(sql`
    SELECT (lower(taken) - 1)::float8 AS seq_from, (upper(taken) - 1)::float8 AS seq_to FROM (
      SELECT unnest(range_agg(int8range(seq_from, seq_to, '(]'))) AS taken FROM batch_export_run
      WHERE project_id = ${project_id} AND batch_export_id = ${batch_export_id} AND selection = 'arrival'
        AND repeats IS NULL AND is_claimed AND seq_to > ${seq_from} AND seq_from < ${seq_to}) AS stretches`)
}

/** Runs of the schedule that have fewer events than positions, and nobody has said who has the others now. */
export function listUnshared(
  db: Db,
  project_id: number,
  batch_export_id: string,
  holes: readonly PositionRange[],
): Promise<RunRow[]> {
  const without = `{${holes.map(({ from, to }) => `(${from},${to}]`).join(',')}}`
  return db.rows(sql`
    SELECT ${RUN_COLUMNS} FROM batch_export_run AS run
    WHERE project_id = ${project_id} AND batch_export_id = ${batch_export_id} AND selection = 'arrival'
      AND repeats IS NULL AND is_claimed AND seq_to - seq_from
        - (SELECT coalesce(sum(upper(hole) - lower(hole)), 0) FROM unnest(${without}::int8multirange
            * int8multirange(int8range(seq_from, seq_to, '(]'))) AS hole) >
        coalesce((SELECT sum(events) FROM batch_export_claim WHERE run_id = run.id), 0)
        + coalesce((
          SELECT sum(events) FROM batch_export_share AS share JOIN batch_export_run AS holder ON holder.id = share.run_id
          WHERE interval_run_id = run.id AND ${isDecisive(sql`holder`)}), 0)`)
}

/** Whether a run, under this name, is the one that counts among those of its delivery that have begun. */
export function isDecisive(run: Statement): Statement {
  const rank = (of: Statement) => sql`(${of}.status = 'Completed', ${of}.created_at, ${of}.id)`
  return sql`NOT EXISTS (
    SELECT 1 FROM batch_export_run AS better
    WHERE (better.id = coalesce(${run}.repeats, ${run}.id) OR better.repeats = coalesce(${run}.repeats, ${run}.id))
      AND better.definition IS NOT NULL AND ${rank(sql`better`)} > ${rank(run)})`
}

/** Claims in an area whose runs have all ended, none of them well: nobody delivers those events unless told to. */
export function listUnfinished(db: Db, batch_export_id: string, area: Area): Promise<Claim[]> {
  return db.rows(sql`
    SELECT ${CLAIM} FROM batch_export_claim AS claim
    WHERE batch_export_id = ${batch_export_id} AND positions && ${positionsOf(area)} AND times && ${timesOf(area)}
      AND NOT EXISTS (
        SELECT 1 FROM batch_export_run AS run WHERE (run.id = claim.run_id OR run.repeats = claim.run_id)
          AND (run.status = 'Completed' OR run.finished_at IS NULL))
    ORDER BY positions, times`)
}

/** Claims whose events nobody has counted yet. */
export function listUncounted(db: Db, batch_export_id: string): Promise<Claim[]> {
  return db.rows(sql`
    SELECT ${CLAIM} FROM batch_export_claim WHERE batch_export_id = ${batch_export_id} AND events IS NULL`)
}

export async function keepCounts(
  db: Db,
  { id }: Pick<ExportRow, 'id'>,
  counted: readonly (Area & { events: number })[],
): Promise<void> {
  await db.run(sql`
    UPDATE batch_export_claim AS claim SET events = counted.events
    FROM ${tableOf(counted)}
    WHERE batch_export_id = ${id} AND positions = int8range(seq_from, seq_to, '(]')
      AND times = tstzrange(time_from, time_to)`)
}

/** Which rows of its events a delivery hands on: by the definition of the run that counts, `holder`. */
export type Choice = { run_id: string; holder: string; definition: Definition; created_at: Date }

/** `created_at` is that of the first run, which relative times in filters count from. */
export function listChoices(db: Db, project_id: number, run_ids: readonly string[]): Promise<Choice[]> {
  return db.rows(sql`
    SELECT first.id AS run_id, run.id AS holder, run.definition, first.created_at
    FROM batch_export_run AS first JOIN batch_export_run AS run ON run.id = first.id OR run.repeats = first.id
    WHERE first.project_id = ${project_id} AND first.id = ANY(${run_ids}::uuid[]) AND run.definition IS NOT NULL
      AND ${isDecisive(sql`run`)}`)
}

/** `run_id` is the run whose filters were asked: when another comes to count for its delivery, so does another share. */
export type Share = { interval_run_id: string; run_id: string; events: number; rows: number }

/** A share depends on what is frozen alone: computing it again gives the same. */
export async function insertShares(db: Db, shares: readonly Share[]): Promise<void> {
  const column = <Value>(read: (share: Share) => Value) => shares.map(read)
  await db.run(sql`
    INSERT INTO batch_export_share (interval_run_id, run_id, events, rows)
    SELECT * FROM unnest(${column((share) => share.interval_run_id)}::uuid[], ${column(({ run_id }) => run_id)}::uuid[],
      ${column(({ events }) => events)}::bigint[], ${column(({ rows }) => rows)}::bigint[])
    ON CONFLICT DO NOTHING`)
}

const AREA = sql`(lower(positions) - 1)::float8 AS seq_from, (upper(positions) - 1)::float8 AS seq_to,
  lower(times) AS time_from, upper(times) AS time_to`
const CLAIM = sql`${AREA}, run_id, events::float8 AS events`

/** A table `counted` of areas, and of how many events each holds. */
function tableOf(areas: readonly (Area & Pick<Claim, 'events'>)[]): Statement {
  const column = <Value>(read: (area: Area & Pick<Claim, 'events'>) => Value) => areas.map(read)
  return sql`unnest(${column(({ seq_from }) => seq_from)}::bigint[], ${column(({ seq_to }) => seq_to)}::bigint[],
      ${column(({ time_from }) => time_from)}::timestamptz[], ${column(({ time_to }) => time_to)}::timestamptz[],
      ${column(({ events }) => events)}::bigint[]) AS counted (seq_from, seq_to, time_from, time_to, events)`
}

function positionsOf({ seq_from, seq_to }: Area): Statement {
  return sql`int8range(${seq_from}, ${seq_to}, '(]')`
}

function timesOf({ time_from, time_to }: Area): Statement {
  return sql`tstzrange(${time_from}, ${time_to})`
}
