// Events of the last hour by minute and kind: how the server's rows and what came since become bars.

export const MINUTES = 60
const MINUTE_MS = 60_000
/** As many as colours can tell apart; all others are one. */
const MOST_KINDS = 7
const OTHERS = 'others'

/** `[minute in seconds since 1970, event, count]`, as the query answers. */
export type Row = readonly [number, string, number]

export type Kind = {
  label: string
  /** Null for all the others together. */
  event: string | null
  /** One for each minute. */
  values: number[]
  total: number
}

export type Incoming = {
  /** The beginning of each minute, in milliseconds. */
  minutes: number[]
  /** The most frequent first. */
  kinds: Kind[]
  total: number
  /** Events in the last whole minute. */
  lastMinute: number
}

export function incomingOf(rows: readonly Row[], now: number): Incoming {
  const end = Math.floor(now / MINUTE_MS)
  const first = end - MINUTES + 1
  const minutes = Array.from({ length: MINUTES }, (_, at) => (first + at) * MINUTE_MS)
  const byEvent = new Map<string, number[]>()
  for (const [second, event, count] of rows) {
    const at = Math.floor(second / 60) - first
    if (at < 0 || at >= MINUTES) continue
    const values = byEvent.get(event) ?? empty()
    values[at]! += count
    byEvent.set(event, values)
  }
  const all = [...byEvent]
    .map(([event, values]) => ({ label: event, event, values, total: sum(values) }))
    .toSorted((a, b) => b.total - a.total || a.label.localeCompare(b.label))
  const named = all.length <= MOST_KINDS + 1 ? all : all.slice(0, MOST_KINDS)
  const rest = all.slice(named.length)
  const values = rest.reduce((sums, kind) => sums.map((value, at) => value + kind.values[at]!), empty())
  const kinds: Kind[] =
    rest.length === 0
      ? named
      : [...named, { label: `${rest.length} ${OTHERS}`, event: null, values, total: sum(values) }]
  return {
    minutes,
    kinds,
    total: sum(kinds.map(({ total }) => total)),
    lastMinute: sum(kinds.map((kind) => kind.values[MINUTES - 2]!)),
  }
}

/** An event that came since the rows were asked for, as a row. */
export function rowOf({ timestamp, event }: { timestamp: string; event: string }): Row {
  return [Math.floor(Date.parse(timestamp) / MINUTE_MS) * 60, event, 1]
}

const empty = (): number[] => Array.from({ length: MINUTES }, () => 0)
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
