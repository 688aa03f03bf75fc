// Until when a key works: a day, in the browser's zone, to its last second.

const DAY_MS = 86_400_000

export const EXPIRY_CHOICES = [
  { days: 7, label: '7 days' },
  { days: 30, label: '30 days' },
  { days: 90, label: '90 days' },
  { days: 365, label: 'A year' },
] as const

const two = (number: number) => String(number).padStart(2, '0')

/** As a date field has it: `2026-11-30`; empty for never. */
export function dayOf(instant: string | null): string {
  if (instant === null) return ''
  const date = new Date(instant)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

export const dayIn = (days: number, now = new Date()): string =>
  dayOf(new Date(now.getTime() + days * DAY_MS).toISOString())

export const endOfDay = (day: string): string | null =>
  day === '' ? null : new Date(`${day}T23:59:59.999`).toISOString()

export const isOver = (expiry: string | null, now = new Date()): boolean =>
  expiry !== null && Date.parse(expiry) <= now.getTime()
