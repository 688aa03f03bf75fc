// Figures of a run that are worked out of what the API says. Pure.
import type { Backfill, Export, Run } from '../queries'
import type { BackfillKinds } from './backfill-kinds'

type Times = Pick<Run, 'created_at' | 'started_at' | 'finished_at'>

/** Seconds at work; up to now for what has not ended, null for what has not begun. */
export function secondsAtWork({ started_at, finished_at }: Times, now: number): number | null {
  if (started_at === null) return null
  const end = finished_at === null ? now : Date.parse(finished_at)
  return Math.max(0, (end - Date.parse(started_at)) / 1000)
}

export function rowsPerSecond(run: Times & Pick<Run, 'records_completed'>): number | null {
  const seconds = secondsAtWork(run, Date.now())
  if (run.finished_at === null || !run.records_completed || seconds === null) return null
  // What took no time that could be measured has no rate.
  return seconds < 0.001 ? null : run.records_completed / seconds
}

/** From 0 to 1, by the speed of earlier runs; undefined where there is no telling. */
export function progressOf(
  { started_at, finished_at }: Times,
  expectedEnd: string | null,
  now: number,
): number | undefined {
  if (started_at === null || finished_at !== null || expectedEnd === null) return undefined
  const whole = Date.parse(expectedEnd) - Date.parse(started_at)
  if (whole <= 0) return undefined
  // It is not done before it says so.
  return Math.min(0.97, Math.max(0.03, (now - Date.parse(started_at)) / whole))
}

/**
 * When it should end; null where there is no telling. The API says it of the one run that it works on first: with others
 * beside it, nobody knows here which that is.
 */
export function expectedEndOf(
  { status, started_at }: Pick<Run, 'status' | 'started_at'>,
  freshness: Pick<NonNullable<Export['freshness']>, 'live_runs' | 'expected_end_at'> | null | undefined,
): string | null {
  const end = freshness?.expected_end_at ?? null
  if (status !== 'Running' || started_at === null || end === null || freshness?.live_runs !== 1) return null
  // It belongs to a run before this one, when both were asked for at different moments.
  return Date.parse(end) > Date.parse(started_at) ? end : null
}

export type Origin = 'schedule' | 'run now' | Backfill['kind']

/** What made it; `kinds` are those of the backfills that are known. */
export function originOf(
  { backfill, created_at, data_interval_end }: Pick<Run, 'backfill' | 'created_at' | 'data_interval_end'>,
  kinds: BackfillKinds,
): Origin {
  if (backfill !== null) return kinds.get(backfill) ?? 'backfill'
  // The schedule makes a run when its interval has ended, never before.
  return Date.parse(created_at) < Date.parse(data_interval_end) ? 'run now' : 'schedule'
}

const rates = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })
export const rateText = (perSecond: number): string => `${rates.format(perSecond)} rows/s`
