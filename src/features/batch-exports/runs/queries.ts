// The run as a job: claimed under a lease (claim.ts), kept alive, ended once. Every statement of a worker names its lease,
// so that a worker that has lost it changes nothing.
import type { Db } from '../../../platform/db/database.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import type { DeliveredFile } from '../destinations/destination.ts'
import type { Definition } from '../definition.ts'
import type { EndStatus, RunRow } from '../rows.ts'
import { RUN_COLUMNS } from './columns.ts'

/** With a beat before and a tick after it, others take over after half a minute at most. */
const LEASE_MS = 26_000

/** Who works on a run, and under which claim. */
export type Lease = { run_id: string; owner: string; attempt: number }

/**
 * Renews the leases of the runs that this worker works on, and returns those that are still its own; the others were lost
 * or cancelled, and their work must stop. A run that it has given up without being able to say so is not among them.
 * `waiting_since` has the runs whose destination does not answer.
 */
export async function keepLeases(
  db: Db,
  owner: string,
  run_ids: readonly string[],
  waiting_since: ReadonlyMap<string, Date>,
  now: Date,
): Promise<Set<string>> {
  const rows = await db.rows<{ id: string; attempt: number }>(sql`
    UPDATE batch_export_run AS run SET lease_until = ${leaseEnd(now)}, waiting_since = (
      SELECT since FROM unnest(${[...waiting_since.keys()]}::uuid[], ${[...waiting_since.values()]}::timestamptz[])
        AS waiting (id, since) WHERE waiting.id = run.id)
    WHERE id = ANY(${run_ids}::uuid[]) AND lease_owner = ${owner} AND finished_at IS NULL RETURNING id, attempt`)
  return new Set(rows.map(({ id, attempt }) => leaseKey({ run_id: id, attempt })))
}

export function leaseKey({ run_id, attempt }: Pick<Lease, 'run_id' | 'attempt'>): string {
  return `${run_id} ${attempt}`
}

/** Writes once what the run is about: what an earlier attempt wrote stands. */
export function freezeRun(
  db: Db,
  { run_id, owner, attempt }: Lease,
  frozen: { definition: Definition; seq_from: number; seq_to: number },
  now: Date,
): Promise<RunRow | undefined> {
  return db.row(sql`
    UPDATE batch_export_run SET status = 'Running', started_at = coalesce(started_at, ${now}),
      definition = coalesce(definition, ${frozen.definition}), seq_from = coalesce(seq_from, ${frozen.seq_from}),
      seq_to = coalesce(seq_to, ${frozen.seq_to}), last_updated_at = ${now}
    WHERE id = ${run_id} AND lease_owner = ${owner} AND attempt = ${attempt} AND finished_at IS NULL
    RETURNING ${RUN_COLUMNS}`)
}

export type RunChange = {
  records_total_count?: number
  records_failed?: number
  progress?: unknown
  /** Files are named before they are visible, so that the next attempt knows what may have been left. */
  published?: readonly string[]
  is_committing?: boolean
  /** Columns that the destination's table lacks. */
  left_out?: readonly string[]
}

/** False: the run is no longer ours. */
export async function updateRun(
  db: Db,
  { run_id, owner, attempt }: Lease,
  { records_total_count, records_failed, progress, published, is_committing, left_out }: RunChange,
  now: Date,
): Promise<boolean> {
  const count = await db.run(sql`
    UPDATE batch_export_run SET records_total_count = coalesce(${records_total_count ?? null}, records_total_count),
      records_failed = coalesce(${records_failed ?? null}, records_failed),
      progress = coalesce(${progress === undefined ? null : JSON.stringify(progress)}::jsonb, progress),
      published = coalesce(${published ? JSON.stringify(published) : null}::jsonb, published),
      is_committing = coalesce(${is_committing ?? null}, is_committing),
      left_out = coalesce(${left_out ?? null}::text[], left_out), last_updated_at = ${now}
    WHERE id = ${run_id} AND lease_owner = ${owner} AND attempt = ${attempt} AND finished_at IS NULL`)
  return count === 1
}

export type RunEnd = {
  status: EndStatus
  records_completed: number | null
  bytes_exported: number | null
  files: DeliveredFile[] | null
  latest_error: string | null
  /** The files that are visible now: no others of the run are there any more. */
  published?: readonly string[]
  /** When the newest of the delivered events arrived here. */
  newest_arrival?: Date | null
}

/** Ends the run and frees its slot. False: it is no longer ours, or has ended otherwise. */
export async function endRun(
  db: Db,
  { run_id, owner, attempt }: Lease,
  end: RunEnd,
  now: Date,
): Promise<boolean> {
  const count = await db.run(sql`
    WITH ended AS (
      UPDATE batch_export_run SET status = ${end.status}, records_completed = ${end.records_completed},
        bytes_exported = ${end.bytes_exported}, files = ${end.files ? JSON.stringify(end.files) : null}::jsonb,
        published = coalesce(${end.published ? JSON.stringify(end.published) : null}::jsonb, published),
        latest_error = ${end.latest_error}, finished_at = ${now}, last_updated_at = ${now}, lease_owner = NULL,
        lease_until = NULL
      WHERE id = ${run_id} AND lease_owner = ${owner} AND attempt = ${attempt} AND finished_at IS NULL
      RETURNING project_id)
    UPDATE batch_export_slot SET active = active - 1 FROM ended WHERE batch_export_slot.project_id = ended.project_id`)
  return count === 1
}

export type AttemptFailure = {
  latest_error: string
  /** Counts towards the failures after which a run is given up. */
  is_counted: boolean
  /** The lock that it gave way to. */
  waiting_for: string | null
}

/** Gives the run back for another attempt. */
export async function returnRun(
  db: Db,
  { run_id, owner, attempt }: Lease,
  { run_after, failure }: { run_after: Date; failure: AttemptFailure | null },
  now: Date,
): Promise<boolean> {
  const count = await db.run(sql`
    WITH returned AS (
      UPDATE batch_export_run SET run_after = ${run_after}, waiting_since = NULL,
        latest_error = coalesce(${failure?.latest_error ?? null}, latest_error),
        failures = failures + ${failure?.is_counted ? 1 : 0}::int, waiting_for = ${failure?.waiting_for ?? null},
        last_updated_at = ${now}, lease_owner = NULL, lease_until = NULL
      WHERE id = ${run_id} AND lease_owner = ${owner} AND attempt = ${attempt} AND finished_at IS NULL
      RETURNING project_id)
    UPDATE batch_export_slot SET active = active - 1 FROM returned
    WHERE batch_export_slot.project_id = returned.project_id`)
  return count === 1
}

/** Frees the slot after work on a run has stopped; true where it was cancelled meanwhile. */
export async function releaseRun(db: Db, { run_id, owner, attempt }: Lease): Promise<boolean> {
  const count = await db.run(sql`
    WITH released AS (
      UPDATE batch_export_run SET lease_owner = NULL, lease_until = NULL
      WHERE id = ${run_id} AND lease_owner = ${owner} AND attempt = ${attempt} AND finished_at IS NOT NULL
      RETURNING project_id)
    UPDATE batch_export_slot SET active = active - 1 FROM released
    WHERE batch_export_slot.project_id = released.project_id`)
  return count === 1
}

/** Takes back what dead workers hold. Counts as a failure, so that a run which kills its worker comes to an end. */
export async function reapRuns(db: Db, expired_before: Date, now: Date): Promise<number> {
  return db.run(sql`
    WITH expired AS (
      UPDATE batch_export_run SET lease_owner = NULL, lease_until = NULL, last_updated_at = ${now},
        run_after = least(run_after, ${now}),
        failures = failures + CASE WHEN finished_at IS NULL THEN 1 ELSE 0 END
      WHERE lease_owner IS NOT NULL AND lease_until < ${expired_before}
      RETURNING project_id),
    counted AS (SELECT project_id, count(*)::int AS count FROM expired GROUP BY project_id)
    UPDATE batch_export_slot SET active = active - counted.count FROM counted
    WHERE batch_export_slot.project_id = counted.project_id`)
}

/** Cancels at once; a worker notices at its next beat. False: the run has ended, or is just being completed. */
export async function cancelRun(db: Db, run: Pick<RunRow, 'id' | 'project_id'>, now: Date): Promise<boolean> {
  const count = await db.run(sql`
    UPDATE batch_export_run SET status = 'Cancelled', finished_at = ${now}, last_updated_at = ${now}
    WHERE project_id = ${run.project_id} AND id = ${run.id} AND finished_at IS NULL
      AND NOT ${isBeingCompleted(now)}`)
  return count === 1
}

/** Cancels all live runs of an export, or of one backfill. */
export async function cancelLiveRuns(
  db: Db,
  of: { project_id: number } & ({ batch_export_id: string } | { backfill_id: string }),
  now: Date,
): Promise<number> {
  const [export_id, backfill_id] =
    'batch_export_id' in of ? [of.batch_export_id, null] : [null, of.backfill_id]
  return db.run(sql`
    UPDATE batch_export_run SET status = 'Cancelled', finished_at = ${now}, last_updated_at = ${now}
    WHERE project_id = ${of.project_id} AND finished_at IS NULL
      AND (batch_export_id = ${export_id}::uuid OR backfill_id = ${backfill_id}::uuid)
      AND NOT ${isBeingCompleted(now)}`)
}

/** A run whose worker has died is nobody's: without a lease it can be cancelled, however far it had come. */
function isBeingCompleted(now: Date): Statement {
  return sql`coalesce(is_committing AND lease_until >= ${now}, false)`
}

/** Whether a run of the export has ever delivered rows: if so, an unreachable destination counts as a passing fault. */
export async function hasCompletedRun(db: Db, project_id: number, batch_export_id: string): Promise<boolean> {
  const row = await db.only<{ found: boolean }>(sql`
    SELECT EXISTS (SELECT 1 FROM batch_export_run
      WHERE project_id = ${project_id} AND batch_export_id = ${batch_export_id} AND status = 'Completed'
        AND records_completed > 0) AS found`)
  return row.found
}

/** How many of the export's last `among` runs have failed for a reason that its owner must mend. */
export async function countRecentFailures(
  db: Db,
  project_id: number,
  batch_export_id: string,
  among: number,
): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM (
      SELECT status FROM batch_export_run WHERE project_id = ${project_id} AND batch_export_id = ${batch_export_id}
      ORDER BY last_updated_at DESC LIMIT ${among}) AS recent
    WHERE status = 'Failed'`)
  return row.count
}

export function leaseEnd(now: Date): Date {
  return new Date(now.getTime() + LEASE_MS)
}
