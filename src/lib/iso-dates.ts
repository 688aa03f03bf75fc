// Dates of ISO 8601 by week (2021-W43-5) and by day of the year (2021-302), as some clients write them.

const WEEK = /^(\d{4})-?W(\d{2})(?:-?([1-7]))?(?=$|[T ])/
const ORDINAL = /^(\d{4})-?(\d{3})(?=$|[T ])/
const DAY_MS = 86_400_000

/** The same text with its date by month and day; null when it has no date of these forms, or none that there is. */
export function withCalendarDate(text: string): string | null {
  const week = WEEK.exec(text)
  const match = week ?? ORDINAL.exec(text)
  if (!match) return null
  const [date, year, number, day = '1'] = match
  const start = yearStart(Number(year))
  const instant = week ? dayOfWeek(start, Number(number), Number(day)) : dayOfYear(start, Number(number))
  if (instant === null) return null
  return new Date(instant).toISOString().slice(0, 10) + text.slice(date.length)
}

/** Not Date.UTC: it takes the years 0 to 99 for 1900 to 1999. */
function yearStart(year: number): number {
  return new Date(0).setUTCFullYear(year, 0, 1)
}

function dayOfYear(start: number, day: number): number | null {
  const instant = start + (day - 1) * DAY_MS
  return day >= 1 && isSameYear(instant, start) ? instant : null
}

/** Week 1 is the one with 4 January; weeks begin on Monday. */
function dayOfWeek(start: number, week: number, day: number): number | null {
  const fourth = start + 3 * DAY_MS
  const firstMonday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY_MS
  const thursday = firstMonday + ((week - 1) * 7 + 3) * DAY_MS
  // A week belongs to the year of its Thursday.
  if (week < 1 || !isSameYear(thursday, start)) return null
  const instant = thursday + (day - 4) * DAY_MS
  const year = new Date(instant).getUTCFullYear()
  return year >= 1 && year <= 9999 ? instant : null
}

function isSameYear(one: number, other: number): boolean {
  return new Date(one).getUTCFullYear() === new Date(other).getUTCFullYear()
}
