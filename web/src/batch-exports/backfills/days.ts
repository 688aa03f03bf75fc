// What each day's events came to, for the calendar. Pure.
import { sumOf, missingIn, type Counts } from '../proof/balance'
import type { IntervalAccount } from '../queries'
import { instantOf, localText } from '../zone'

export type Day = Counts & { date: string }
export type DayState = 'none' | 'whole' | 'part' | 'missing'
export type Month = { key: string; label: string; weeks: readonly (readonly (string | null)[])[] }

export function daysOf(accounts: readonly IntervalAccount[], zone: string): Map<string, Day> {
  const byDate = new Map<string, IntervalAccount[]>()
  for (const account of accounts) {
    const date = localText(account.data_interval_start ?? account.data_interval_end, zone).slice(0, 10)
    byDate.set(date, [...(byDate.get(date) ?? []), account])
  }
  return new Map([...byDate].map(([date, those]) => [date, { date, ...sumOf(those) }]))
}

export function stateOf(day: Day | undefined): DayState {
  if (!day || (day.received ?? day.exported) === 0) return 'none'
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

/** The whole day by the clocks of the zone, cut where the last interval ended. */
export function rangeOfDays(
  one: string,
  other: string,
  zone: string,
  until: string,
): { from: string; to: string } {
  const [first, last] = [one, other].sort()
  const after = new Date(Date.parse(`${last}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
  const from = instantOf(`${first}T00:00`, zone)!
  const to = instantOf(`${after}T00:00`, zone)!
  return { from, to: Date.parse(to) > Date.parse(until) ? until : to }
}
