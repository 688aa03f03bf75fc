// What each day's events came to, for the calendar. Pure.
import type { Schema } from '../../api/client'
import { missingIn } from '../proof/balance'

export type Day = Schema<'BatchExportDayAccount'>
export type DayState = 'none' | 'whole' | 'part' | 'missing'
export type Month = { key: string; label: string; weeks: readonly (readonly (string | null)[])[] }

export function stateOf(day: Day | undefined): DayState {
  if (!day || day.received === day.filtered_out) return 'none'
  if (missingIn(day) === 0) return 'whole'
  return day.exported > 0 ? 'part' : 'missing'
}

/** The months from one date to another, in weeks from Monday to Sunday. */
export function monthsBetween(first: string, last: string): Month[] {
  const months: Month[] = []
  for (let at = Date.parse(`${first.slice(0, 7)}-01T00:00:00Z`); at <= Date.parse(`${last}T00:00:00Z`);) {
    const start = new Date(at)
    const [year, month] = [start.getUTCFullYear(), start.getUTCMonth()]
    const lead = (start.getUTCDay() + 6) % 7
    const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
    const dates = [
      ...Array.from({ length: lead }, () => null),
      ...Array.from({ length }, (_, day) =>
        new Date(Date.UTC(year, month, day + 1)).toISOString().slice(0, 10),
      ),
    ]
    const weeks = Array.from({ length: Math.ceil(dates.length / 7) }, (_, week) =>
      dates.slice(week * 7, week * 7 + 7),
    )
    months.push({
      key: start.toISOString().slice(0, 7),
      label: start.toLocaleString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }),
      weeks,
    })
    at = Date.UTC(year, month + 1, 1)
  }
  return months
}

/** From the beginning of the earlier day to the end of the later, or to where the last interval ended. */
export function rangeOfDays(one: Day, other: Day, until: string): { from: string; to: string } {
  const [first, last] = [one, other].sort((a, b) => Date.parse(a.start) - Date.parse(b.start))
  const isCut = Date.parse(last!.end) > Date.parse(until) && Date.parse(first!.start) < Date.parse(until)
  return { from: first!.start, to: isCut ? until : last!.end }
}
