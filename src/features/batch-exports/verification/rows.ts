// A verification as the table has it: what was asked for, how far it has come, what it has found.

export const TRIGGERS = ['run', 'timetable', 'request'] as const
export const STATUSES = ['Waiting', 'Running', 'Completed', 'Failed'] as const
export const VERDICTS = ['intact', 'problems', 'unreachable', 'unclear', 'nothing_to_verify'] as const
export const PROBLEM_KINDS = [
  'missing_file',
  'changed_file',
  'wrong_rows',
  'wrong_uuids',
  'stray_file',
  'missing_row',
  'doubled_row',
  'changed_row',
  'stray_row',
  'missing_column',
  'unacknowledged_batches',
  'unreachable',
] as const

export type Verdict = (typeof VERDICTS)[number]
export type ProblemKind = (typeof PROBLEM_KINDS)[number]

export type Problem = {
  kind: ProblemKind
  /** The run that delivered it, or should have; null when no run is involved. */
  run: string | null
  file: string | null
  uuid: string | null
  /** The event's position in the store. */
  position: number | null
  message: string
  what_to_do: string
}

/** What to verify: one run, the intervals that end in (start_at, end_at], or everything when all are null. */
export type Subject = { run_id: string | null; start_at: Date | null; end_at: Date | null }

export const EVERYTHING: Subject = { run_id: null, start_at: null, end_at: null }

export function isWhole({ run_id, start_at, end_at }: Subject): boolean {
  return run_id === null && start_at === null && end_at === null
}

/** What was read. */
export type Figures = { runs: number; files: number; rows: number; bytes: number }

export type VerificationRow = Subject &
  Figures & {
    id: string
    project_id: number
    batch_export_id: string
    trigger: (typeof TRIGGERS)[number]
    status: (typeof STATUSES)[number]
    verdict: Verdict | null
    problems: Problem[]
    problems_count: number
    problem_kinds: Partial<Record<ProblemKind, number>>
    notes: string[]
    attempt: number
    run_after: Date
    lease_owner: string | null
    lease_until: Date | null
    created_at: Date
    started_at: Date | null
    finished_at: Date | null
  }
