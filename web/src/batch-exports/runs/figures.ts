// Figures of a run that are worked out of what the API says. Pure.
import type { Run } from '../queries'

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

const rates = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })
export const rateText = (perSecond: number): string => `${rates.format(perSecond)} rows/s`
