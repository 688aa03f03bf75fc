// A verification's row → its JSON in the API.
import type { z } from 'zod'
import type { VerificationRow } from './rows.ts'
import type { LatestVerification, Verification } from './schema.ts'

export function presentVerification(row: VerificationRow): z.input<typeof Verification> {
  return {
    id: row.id,
    batch_export: row.batch_export_id,
    trigger: row.trigger,
    run: row.run_id,
    start_at: row.start_at?.toISOString() ?? null,
    end_at: row.end_at?.toISOString() ?? null,
    status: row.status,
    verdict: row.verdict,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    runs: row.runs,
    files: row.files,
    rows: row.rows,
    bytes: row.bytes,
    problems: row.problems,
    problems_count: row.problems_count,
    notes: row.notes,
  }
}

export function presentLatest(
  row: Pick<VerificationRow, 'id' | 'finished_at' | 'verdict' | 'problems_count'> | undefined,
): z.input<typeof LatestVerification> | null {
  if (!row) return null
  const { id, finished_at, verdict, problems_count } = row
  return { id, finished_at: finished_at!.toISOString(), verdict, problems_count }
}
