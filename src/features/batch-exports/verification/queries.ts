// SQL statements of the work on verifications: enqueued, claimed under a lease, ended once. Those that read them for the
// API are in read-queries.ts.
import { uuid7 } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { deleteInBatches } from '../../../platform/db/in-batches.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import type { Figures, Problem, ProblemKind, Subject, Verdict, VerificationRow } from './rows.ts'

/** With a beat before and a tick after it, others take over after half a minute at most. */
const LEASE_MS = 26_000
const KEPT_MS = 30 * 24 * 3_600_000

export type Owner = Pick<ExportRow, 'id' | 'project_id'>

/** Who works on a verification, and under which claim. */
export type Lease = { id: string; owner: string; attempt: number }

export const VERIFICATION_COLUMNS = sql`
  id, project_id, batch_export_id, trigger, run_id, start_at, end_at, status, verdict, runs, files, rows::float8 AS rows,
  bytes::float8 AS bytes, problems, problems_count::float8 AS problems_count, problem_kinds, notes, attempt, run_after,
  lease_owner, lease_until, created_at, started_at, finished_at`

/** Undefined: a live one does the same already. */
export function insertVerification(
  tx: Db,
  { id, project_id }: Owner,
  { trigger, run_id, start_at, end_at }: Subject & Pick<VerificationRow, 'trigger'>,
  now: Date,
): Promise<VerificationRow | undefined> {
  return tx.row(sql`
    INSERT INTO batch_export_verification (id, project_id, batch_export_id, trigger, run_id, start_at, end_at, status,
      run_after, created_at)
    VALUES (${uuid7(now)}, ${project_id}, ${id}, ${trigger}, ${run_id}, ${start_at}, ${end_at}, 'Waiting', ${now}, ${now})
    ON CONFLICT DO NOTHING RETURNING ${VERIFICATION_COLUMNS}`)
}

/** Finds one that waits or is at work. It is due by now at the latest: a clock that was ahead, or a failure, had put it off. */
export function hastenLive(
  tx: Db,
  { id, project_id }: Owner,
  { run_id, start_at, end_at }: Subject,
  now: Date,
): Promise<VerificationRow | undefined> {
  return tx.row(sql`
    UPDATE batch_export_verification SET run_after = least(run_after, ${now})
    WHERE project_id = ${project_id} AND batch_export_id = ${id} AND finished_at IS NULL
      AND run_id IS NOT DISTINCT FROM ${run_id}::uuid AND start_at IS NOT DISTINCT FROM ${start_at}::timestamptz
      AND end_at IS NOT DISTINCT FROM ${end_at}::timestamptz
    RETURNING ${VERIFICATION_COLUMNS}`)
}

export async function hasRun(db: Db, { id, project_id }: Owner, run_id: string): Promise<boolean> {
  const { found } = await db.only<{ found: boolean }>(sql`
    SELECT EXISTS (SELECT 1 FROM batch_export_run
      WHERE project_id = ${project_id} AND batch_export_id = ${id} AND id = ${run_id}) AS found`)
  return found
}

export async function countLiveRequests(tx: Db, project_id: number): Promise<number> {
  const { count } = await tx.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM batch_export_verification
    WHERE project_id = ${project_id} AND finished_at IS NULL AND trigger = 'request'`)
  return count
}

/** For a run that has just ended: when it has brought rows to a place that can be looked at. */
export async function enqueueAfterRun(
  tx: Db,
  { id, project_id }: Pick<RunRow, 'id' | 'project_id'>,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    INSERT INTO batch_export_verification (id, project_id, batch_export_id, trigger, run_id, status, run_after, created_at)
    SELECT ${uuid7(now)}, project_id, batch_export_id, 'run', id, 'Waiting', ${now}, ${now} FROM batch_export_run
    WHERE project_id = ${project_id} AND id = ${id} AND status = 'Completed' AND records_completed > 0
      AND definition ->> 'destination_type' <> 'NoOp'
    ON CONFLICT DO NOTHING`)
}

/** Exports that have delivered something, over all projects, and when the timetable last had each of them verified. */
export function listTimetabled(
  db: Db,
): Promise<(Owner & { created_at: Date; last_enqueued_at: Date | null })[]> {
  return db.rows(sql`
    SELECT id, project_id, created_at, (
      SELECT max(created_at) FROM batch_export_verification AS verification
      WHERE verification.batch_export_id = batch_export.id AND trigger = 'timetable') AS last_enqueued_at
    FROM batch_export
    WHERE deleted_at IS NULL AND destination_type <> 'NoOp' AND EXISTS (
      SELECT 1 FROM batch_export_run WHERE batch_export_id = batch_export.id AND status = 'Completed'
        AND records_completed > 0)`)
}

/** The next one due: what people wait for first, then projects in turn, oldest first. */
export function claimVerification(
  db: Db,
  owner: string,
  now: Date,
  only: readonly string[] | null,
): Promise<VerificationRow | undefined> {
  return db.row(sql`
    UPDATE batch_export_verification SET status = 'Running', lease_owner = ${owner}, lease_until = ${leaseEnd(now)},
      attempt = attempt + 1, started_at = ${now}
    WHERE id = (
      SELECT id FROM batch_export_verification AS waiting
      WHERE finished_at IS NULL AND lease_owner IS NULL AND run_after <= ${now}
        AND (id = ANY(${only}::uuid[]) OR ${only}::uuid[] IS NULL)
      ORDER BY (trigger <> 'request'), (
        SELECT max(started_at) FROM batch_export_verification AS other WHERE other.project_id = waiting.project_id)
        NULLS FIRST, created_at, id
      LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING ${VERIFICATION_COLUMNS}`)
}

/** False: it is no longer ours. */
export async function keepLease(db: Db, lease: Lease, figures: Figures, now: Date): Promise<boolean> {
  const count = await db.run(sql`
    UPDATE batch_export_verification SET lease_until = ${leaseEnd(now)}, ${assigned(figures)} WHERE ${isOurs(lease)}`)
  return count === 1
}

export type Result = Figures & {
  status: 'Completed' | 'Failed'
  verdict: Verdict | null
  problems: readonly Problem[]
  problems_count: number
  problem_kinds: Partial<Record<ProblemKind, number>>
  notes: readonly string[]
}

/** False: it is no longer ours. */
export async function endVerification(db: Db, lease: Lease, result: Result, now: Date): Promise<boolean> {
  const count = await db.run(sql`
    UPDATE batch_export_verification SET status = ${result.status}, verdict = ${result.verdict}, ${assigned(result)},
      problems = ${JSON.stringify(result.problems)}::jsonb, problems_count = ${result.problems_count},
      problem_kinds = ${JSON.stringify(result.problem_kinds)}::jsonb, notes = ${JSON.stringify(result.notes)}::jsonb,
      finished_at = ${now}, lease_owner = NULL, lease_until = NULL
    WHERE ${isOurs(lease)}`)
  return count === 1
}

/** Gives it back for another attempt, which begins anew. */
export async function returnVerification(
  db: Db,
  lease: Lease,
  { run_after, is_attempt }: { run_after: Date; is_attempt: boolean },
): Promise<void> {
  await db.run(sql`
    UPDATE batch_export_verification SET status = 'Waiting', run_after = ${run_after}, lease_owner = NULL,
      lease_until = NULL, attempt = attempt - ${is_attempt ? 0 : 1}::int
    WHERE ${isOurs(lease)}`)
}

/** Takes back what dead workers hold. */
export async function reapVerifications(db: Db, expired_before: Date): Promise<void> {
  await db.run(sql`
    UPDATE batch_export_verification SET status = 'Waiting', lease_owner = NULL, lease_until = NULL
    WHERE lease_owner IS NOT NULL AND lease_until < ${expired_before}`)
}

/**
 * Deletes old verifications in all projects. An export's last one over everything stays, and so do those after it.
 * Returns how many were deleted.
 */
export function forgetOldVerifications(db: Db, now: Date): Promise<number> {
  const oldest_kept = new Date(now.getTime() - KEPT_MS)
  return deleteInBatches(
    db,
    (batch_size) => sql`
      DELETE FROM batch_export_verification WHERE id IN (
        SELECT old.id FROM batch_export_verification AS old
        JOIN batch_export ON batch_export.id = old.batch_export_id
        WHERE old.finished_at < ${oldest_kept} AND (deleted_at IS NOT NULL OR EXISTS (
          SELECT 1 FROM batch_export_verification AS newer
          WHERE newer.batch_export_id = old.batch_export_id AND newer.finished_at IS NOT NULL
            AND newer.run_id IS NULL AND newer.start_at IS NULL AND newer.end_at IS NULL
            AND (newer.created_at, newer.id) > (old.created_at, old.id)))
        LIMIT ${batch_size})`,
  )
}

function assigned({ runs, files, rows, bytes }: Figures): Statement {
  return sql`runs = ${runs}, files = ${files}, rows = ${rows}, bytes = ${bytes}`
}

function isOurs({ id, owner, attempt }: Lease): Statement {
  return sql`id = ${id} AND lease_owner = ${owner} AND attempt = ${attempt} AND finished_at IS NULL`
}

function leaseEnd(now: Date): Date {
  return new Date(now.getTime() + LEASE_MS)
}
