// SQL statements about the breakers of destinations. Claims and lists of runs read the same table.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { ExportRow } from '../rows.ts'
import { FAILURES_TO_OPEN, pauseMs } from './rules.ts'

export type Opened = { failures: number; probe_at: Date }

/** When the attempt began, and how long the destination has asked to be left alone. */
type Failure = { began_at: Date; asked_ms: number }

/**
 * Counts a failure; gives the breaker when it is open then. What began before it opened says nothing new: a handful of runs
 * that fail together make one pause, not a long one.
 */
export async function countFailure(
  db: Db,
  row: ExportRow,
  { began_at, asked_ms }: Failure,
  now: Date,
): Promise<Opened | null> {
  const { project_id } = row
  const destination = destinationOf(row)
  return db.transaction(async (tx) => {
    const counted = await tx.row<{ failures: number }>(sql`
      INSERT INTO batch_export_breaker AS breaker (project_id, destination, failures)
      VALUES (${project_id}, ${destination}, 1)
      ON CONFLICT (project_id, destination) DO UPDATE SET failures = breaker.failures + 1
        WHERE breaker.probe_at IS NULL OR breaker.probe_at <= ${began_at}
      RETURNING failures`)
    if (!counted || counted.failures < FAILURES_TO_OPEN) return null
    const probe_at = new Date(now.getTime() + Math.max(pauseMs(counted.failures), asked_ms))
    await tx.run(sql`
      UPDATE batch_export_breaker SET opened_at = coalesce(opened_at, ${now}), probe_at = ${probe_at}
      WHERE project_id = ${project_id} AND destination = ${destination}`)
    return { failures: counted.failures, probe_at }
  })
}

/** The destination has answered. */
export async function closeBreaker(db: Db, row: ExportRow): Promise<void> {
  await db.run(sql`
    DELETE FROM batch_export_breaker WHERE project_id = ${row.project_id} AND destination = ${destinationOf(row)}`)
}

function destinationOf({ destination_key, id }: ExportRow): string {
  return destination_key ?? id
}
