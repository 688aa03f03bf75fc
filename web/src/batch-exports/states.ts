// What state runs and exports are in: its kind (colour and shape) and its words. Pure.
import type { StatusKind } from '../ui/Status'
import { agoText, durationText } from '../ui/format'
import type { Backfill, ExportStatus, Run } from './queries'
import type { Origin } from './runs/figures'

export type State = { kind: StatusKind; text: string }
type RunStatus = Run['status']

const RUN_STATES: Record<RunStatus, State> = {
  Starting: { kind: 'waiting', text: 'Waiting' },
  Running: { kind: 'running', text: 'Running' },
  Completed: { kind: 'delivered', text: 'Delivered' },
  Failed: { kind: 'failed', text: 'Failed' },
  FailedRetryable: { kind: 'failed', text: 'Gave up' },
  Cancelled: { kind: 'skipped', text: 'Cancelled' },
  Terminated: { kind: 'failed', text: 'Stopped' },
  TimedOut: { kind: 'failed', text: 'Timed out' },
}

export const runState = (status: RunStatus): State => RUN_STATES[status]
export const isLive = (status: RunStatus): boolean => status === 'Starting' || status === 'Running'
export const hasFailed = (status: RunStatus): boolean => RUN_STATES[status].kind === 'failed'

/** Choices of the filter, by what people call them. */
export const RUN_FILTERS: readonly { value: string; label: string; statuses: readonly RunStatus[] }[] = [
  { value: 'all', label: 'All', statuses: [] },
  { value: 'live', label: 'Live', statuses: ['Starting', 'Running'] },
  { value: 'failed', label: 'Failed', statuses: ['Failed', 'FailedRetryable', 'Terminated', 'TimedOut'] },
  { value: 'delivered', label: 'Delivered', statuses: ['Completed'] },
]

type Standing = Pick<
  ExportStatus,
  'live_runs' | 'last_run' | 'is_late' | 'last_completed_at' | 'last_verification'
> & { paused: boolean }

/** What matters most comes first: a pause, a failure, what was found to be missing or changed, work, lateness. */
export function exportState(standing: Standing): State {
  const { paused, live_runs, is_late, last_completed_at } = standing
  if (paused) return { kind: 'held', text: 'Paused' }
  if (isFailing(standing)) return { kind: 'failed', text: 'Failing' }
  if (hasProblems(standing)) return { kind: 'failed', text: 'Problems' }
  if (live_runs > 0) return { kind: 'running', text: 'Running' }
  if (is_late) return { kind: 'held', text: 'Late' }
  if (last_completed_at === null) return { kind: 'waiting', text: 'Waiting for its first run' }
  return { kind: 'delivered', text: 'Delivered' }
}

const isFailing = ({ last_run }: Pick<Standing, 'last_run'>): boolean =>
  last_run !== null && hasFailed(last_run.status)

/** What was delivered is no longer at the destination as it was: the tab Proof says what. */
const hasProblems = ({ last_verification }: Pick<Standing, 'last_verification'>): boolean =>
  last_verification?.verdict === 'problems'

/** Why an export is in its state, where there is more to say about it. */
export function reasonOf(standing: Standing): string | undefined {
  if (!standing.paused && !isFailing(standing) && hasProblems(standing))
    return 'Reading back what was delivered has found problems: Proof names them.'
  return standing.last_run?.latest_error ?? undefined
}

type Lag = Pick<ExportStatus, 'rows_behind' | 'runs_behind' | 'oldest_pending_age_s' | 'next_run_at'>

/** How far behind it is, in words; null where rows are not counted. What the next run takes is not behind before that. */
export function behindText(
  { rows_behind, runs_behind, oldest_pending_age_s, next_run_at }: Lag,
  now = new Date(),
): string | null {
  if (rows_behind === null) return null
  if (rows_behind === 0 || oldest_pending_age_s === null) return 'up to date'
  if (runs_behind === 0 && next_run_at !== null && Date.parse(next_run_at) > now.getTime())
    return `next run ${agoText(next_run_at, now)}`
  return `${durationText(oldest_pending_age_s)} behind`
}

const SCHEDULES: Record<ExportStatus['interval'], string> = {
  hour: 'Every hour',
  day: 'Every day',
  week: 'Every week',
  'every 5 minutes': 'Every 5 minutes',
  'every 15 minutes': 'Every 15 minutes',
}
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

export const intervalText = (interval: ExportStatus['interval']): string => SCHEDULES[interval]

type Schedule = {
  interval: ExportStatus['interval']
  timezone: string
  offset_day: number | null
  offset_hour: number | null
}

/** `Every week on Monday at 03:00, Europe/Berlin`. */
export function scheduleText({ interval, timezone, offset_day, offset_hour }: Schedule): string {
  if (interval !== 'day' && interval !== 'week') return SCHEDULES[interval]
  const day = interval === 'week' ? ` on ${WEEKDAYS[offset_day ?? 0]}` : ''
  return `${SCHEDULES[interval]}${day} at ${String(offset_hour ?? 0).padStart(2, '0')}:00, ${timezone}`
}

export const WEEKDAY_CHOICES = WEEKDAYS.map((label, value) => ({ value: String(value), label }))

const KINDS: Record<Backfill['kind'], string> = {
  backfill: 'What was missing',
  unpause: 'What a pause skipped',
  repair: 'Repair',
  retry: 'Retry of a run',
}
export const backfillText = (kind: Backfill['kind']): string => KINDS[kind]

const ORIGINS: Record<Origin, string> = {
  schedule: 'schedule',
  'run now': 'run now',
  backfill: 'backfill',
  unpause: 'end of a pause',
  repair: 'repair',
  retry: 'retry',
}
export const originText = (origin: Origin): string => ORIGINS[origin]

/** What whoever looks at a run that did not deliver can do about it. */
export function adviceFor({ status, attempts }: Pick<Run, 'status' | 'attempts'>): string | null {
  const times = attempts === 1 ? 'once' : `${attempts} times`
  switch (status) {
    case 'Failed':
      return 'Trying again would fail the same way. Mend the cause in the settings or at the destination, then retry the run.'
    case 'FailedRetryable':
      return `It was tried ${times}. Check that the destination can be reached, then retry the run.`
    case 'TimedOut':
      return 'It took longer than a run may. Retry it when the destination is quicker, or export shorter intervals.'
    case 'Terminated':
      return 'Whoever runs this server stopped it. Retry the run to deliver its rows.'
    case 'Cancelled':
      return 'Its rows are not at the destination. Retry the run to deliver them.'
    default:
      return null
  }
}
