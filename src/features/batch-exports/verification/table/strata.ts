// What the ledger says should be in a table: all that deliveries have claimed, in groups that one query to the store
// answers. Months of hourly runs with the same definition are one group of one area.
import type { Db } from '../../../../platform/db/database.ts'
import { sql } from '../../../../platform/db/sql.ts'
import type { Area } from '../../../../platform/event-store/export-rows.ts'
import type { Definition } from '../../definition.ts'
import { intersect } from '../../ledger/areas.ts'
import { dependOnRun } from '../../source/columns.ts'
import { isAt, type DeliveryPlace } from '../deliveries.ts'
import type { Owner } from '../queries.ts'
import type { Window } from './windows.ts'

export type Stratum = {
  /** `expected`: the rows are in the table, once. `open`: a run is at work on them, or none has got through. */
  state: 'expected' | 'open'
  definition: Definition
  /** Relative times in filters count from it. */
  created_at: Date
  /** Some destinations get it as a column. */
  interval_end: Date
  areas: Area[]
}

/** Runs that have completed by now: what they delivered is in the table whenever it is read from now on. */
export async function listCompleted(db: Db, { id, project_id }: Owner): Promise<string[]> {
  const runs = await db.rows<{ id: string }>(sql`
    SELECT id FROM batch_export_run
    WHERE project_id = ${project_id} AND batch_export_id = ${id} AND status = 'Completed'`)
  return runs.map((run) => run.id)
}

/**
 * Deliveries of the runs in `completed` that nobody is at work on are expected; all others that have claimed events are
 * open. Called after the table was read, it knows every run that can have written a row there. It uses no clock, which
 * may have been set back since.
 */
export async function listStrata(
  db: Db,
  owner: Owner,
  place: DeliveryPlace,
  completed: readonly string[],
): Promise<Stratum[]> {
  const rows = await db.rows<Omit<Stratum, 'areas'> & { group_id: number } & Area>(sql`
    WITH own AS (
      SELECT run.*, coalesce(repeats, id) AS delivery_id FROM batch_export_run AS run
      WHERE project_id = ${owner.project_id} AND batch_export_id = ${owner.id} AND definition IS NOT NULL),
    decisive AS (
      SELECT DISTINCT ON (delivery_id) delivery_id, definition, data_interval_end,
        CASE WHEN finished_at IS NOT NULL AND id = ANY(${completed}::uuid[]) THEN 'expected' ELSE 'open' END AS state
      FROM own ORDER BY delivery_id, (finished_at IS NULL) DESC, (status = 'Completed') DESC, created_at DESC, id DESC),
    grouped AS (
      SELECT delivery_id, state, run.definition,
        CASE WHEN ${isTimeless} THEN NULL ELSE first.created_at END AS relative_to,
        CASE WHEN ${dependOnRun(place.kind.columns)} THEN run.data_interval_end END AS own_end,
        first.created_at, run.data_interval_end
      FROM decisive AS run JOIN batch_export_run AS first ON first.id = delivery_id
      WHERE ${isAt(place)} AND run.definition ->> 'model' = 'events'),
    numbered AS (
      SELECT *, dense_rank() OVER (ORDER BY state, definition, relative_to, own_end)::int AS group_id FROM grouped),
    joined AS (
      SELECT group_id, state, definition, min(numbered.created_at) AS created_at,
        max(data_interval_end) AS interval_end, unnest(range_agg(positions)) AS positions, times
      FROM numbered JOIN batch_export_claim AS claim ON claim.run_id = delivery_id
      WHERE claim.batch_export_id = ${owner.id}
      GROUP BY group_id, state, definition, times)
    SELECT group_id, state, definition, created_at, interval_end, (lower(positions) - 1)::float8 AS seq_from,
      (upper(positions) - 1)::float8 AS seq_to, lower(times) AS time_from, upper(times) AS time_to
    FROM joined ORDER BY group_id, positions, times`)
  const strata = new Map<number, Stratum>()
  for (const { group_id, state, definition, created_at, interval_end, ...area } of rows) {
    const stratum = strata.get(group_id) ?? { state, definition, created_at, interval_end, areas: [] }
    strata.set(group_id, stratum)
    stratum.areas.push(area)
  }
  return [...strata.values()]
}

/** Condition on `run.definition`: nothing in it is relative to the time of the run. */
const isTimeless = sql`(run.definition -> 'hogql_query' = 'null'
  AND coalesce(nullif(run.definition -> 'filters', 'null'), '[]') = '[]')`

/** The parts of the areas that lie in the windows; without windows, all of them. */
export function areasWithin(areas: readonly Area[], windows: readonly Window[] | null): Area[] {
  if (windows === null) return [...areas]
  return areas.flatMap((area) =>
    windows.flatMap(({ from, to }) => {
      const window: Area = { seq_from: area.seq_from, seq_to: area.seq_to, time_from: from, time_to: to }
      const common = intersect(area, window)
      return common ? [common] : []
    }),
  )
}
