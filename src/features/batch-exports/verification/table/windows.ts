// The times that a verification of less than everything looks at: the hours in which the events happened, joined where they
// touch, and coarser where they would be too many for one statement. Pure.

export type Window = { from: Date; to: Date }

const HOUR_MS = 3_600_000
/** Hours, days, weeks. */
const UNITS = [1, 24, 7 * 24] as const
const MAX_WINDOWS = 31

/** `hours` are counted from 1970 on. */
export function windowsOf(hours: readonly number[]): Window[] {
  for (const unit of UNITS) {
    const windows = joined(hours, unit)
    if (windows.length <= MAX_WINDOWS) return windows
  }
  const sorted = hours.toSorted((one, other) => one - other)
  return [window(sorted[0]!, sorted.at(-1)! + 1)]
}

function joined(hours: readonly number[], unit: number): Window[] {
  const units = [...new Set(hours.map((hour) => Math.floor(hour / unit)))].toSorted(
    (one, other) => one - other,
  )
  const stretches: { from: number; to: number }[] = []
  for (const each of units) {
    const last = stretches.at(-1)
    if (last?.to === each) last.to = each + 1
    else stretches.push({ from: each, to: each + 1 })
  }
  return stretches.map(({ from, to }) => window(from * unit, to * unit))
}

const window = (from: number, to: number): Window => ({
  from: new Date(from * HOUR_MS),
  to: new Date(to * HOUR_MS),
})
