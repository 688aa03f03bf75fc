// When people come: more by day than by night, fewer at weekends, and more from week to week.

const HOUR = 3_600_000
/** By hour of the day, UTC. */
const BY_HOUR = [5, 4, 3, 3, 3, 4, 5, 7, 9, 10, 10, 10, 11, 12, 13, 13, 13, 13, 12, 12, 11, 10, 8, 6]
const WEEKEND = 0.65
const GROWTH = 0.6

/** Takes shares of all visits, from 0 to 1 and never falling, to the moment by which so many have begun. */
export function visitTimes(start_ms: number, end_ms: number): (share: number) => number {
  const hours = Math.max(1, Math.ceil((end_ms - start_ms) / HOUR))
  const step = (end_ms - start_ms) / hours
  const weights = Array.from({ length: hours }, (_, index) =>
    weightOf(start_ms + index * step, index / hours),
  )
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let hour = 0
  let before = 0
  return (share) => {
    const wanted = share * total
    while (hour < hours - 1 && before + weights[hour]! <= wanted) before += weights[hour++]!
    const part = Math.min((wanted - before) / weights[hour]!, 1)
    return start_ms + (hour + part) * step
  }
}

function weightOf(ms: number, progress: number): number {
  const date = new Date(ms)
  const isWeekend = date.getUTCDay() % 6 === 0
  return BY_HOUR[date.getUTCHours()]! * (isWeekend ? WEEKEND : 1) * (1 + GROWTH * progress)
}
