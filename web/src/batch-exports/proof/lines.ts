// Intervals as lines of columns: one line a day, a month or a year, each column at the place of its hour, day or week, so
// that the same hours stand above each other. Pure.
import type { StatusKind } from '../../ui/Status'
import { instantOf, isInstant, wallClock, type Range as PickedRange } from '../../ui/time-range'
import type { Export, IntervalAccount } from '../queries'
import { isLive, runState } from '../states'
import { partsIn, type LocalParts } from '../zone'
import { balanceOf, missingIn } from './balance'

type Interval = Export['interval']
export type Cell = { account: IntervalAccount; kind: StatusKind; rows: number }
/** A place between intervals that has none: the export was paused. */
export const GAP = 'gap'
export type Place = Cell | typeof GAP | null
export type Line = { key: string; label: string; cells: readonly Place[] }

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = (part: number) => String(part).padStart(2, '0')
const dayOf = ({ day, month }: LocalParts) => `${day} ${MONTHS[month - 1]}`
const dateOf = ({ year, month, day }: LocalParts) => `${year}-${two(month)}-${two(day)}`

type Grid = {
  slots: number
  key: (at: LocalParts) => string
  label: (at: LocalParts) => string
  slot: (at: LocalParts) => number
}

const GRIDS: Record<Interval, Grid> = {
  // A day of 288 columns is too wide for most screens.
  'every 5 minutes': {
    slots: 72,
    key: (at) => `${dateOf(at)} ${Math.floor(at.hour / 6)}`,
    label: (at) => `${dayOf(at)}, ${two(Math.floor(at.hour / 6) * 6)}h`,
    slot: ({ hour, minute }) => (hour % 6) * 12 + Math.floor(minute / 5),
  },
  'every 15 minutes': {
    slots: 96,
    key: dateOf,
    label: dayOf,
    slot: ({ hour, minute }) => hour * 4 + Math.floor(minute / 15),
  },
  hour: { slots: 24, key: dateOf, label: dayOf, slot: ({ hour }) => hour },
  day: {
    slots: 31,
    key: ({ year, month }) => `${year}-${two(month)}`,
    label: ({ year, month }) => `${MONTHS[month - 1]} ${year}`,
    slot: ({ day }) => day - 1,
  },
  week: {
    slots: 53,
    key: ({ year }) => String(year),
    label: ({ year }) => String(year),
    slot: ({ year, month, day }) =>
      Math.floor((Date.UTC(year, month - 1, day) - Date.UTC(year, 0, 1)) / 604_800_000),
  },
}

/** How many intervals are asked for at a time: a fortnight of hours, a year of days. */
export const PAGE_SIZES: Record<Interval, number> = {
  'every 5 minutes': 864,
  'every 15 minutes': 672,
  hour: 336,
  day: 366,
  week: 265,
}

/** Newest first come in, oldest first go out. */
export function linesOf(accounts: readonly IntervalAccount[], interval: Interval, zone: string): Line[] {
  const grid = GRIDS[interval]
  const lines = new Map<string, { label: string; slots: Map<number, Cell[]> }>()
  for (const account of accounts.toReversed()) {
    const at = partsIn(account.data_interval_start ?? account.data_interval_end, zone)
    const key = grid.key(at)
    const line = lines.get(key) ?? { label: grid.label(at), slots: new Map<number, Cell[]>() }
    lines.set(key, line)
    // Two in one place: the hour that comes twice when clocks are set back.
    line.slots.set(grid.slot(at), [...(line.slots.get(grid.slot(at)) ?? []), cellOf(account)])
  }
  return withGaps(
    [...lines].map(([key, { label, slots }]) => ({
      key,
      label,
      cells: Array.from(
        { length: grid.slots },
        (_, slot): (Cell | null)[] => slots.get(slot) ?? [null],
      ).flat(),
    })),
  )
}

/** Free places between two intervals that do not follow each other. An hour that clocks leave out is none. */
function withGaps(lines: readonly (Line & { cells: readonly (Cell | null)[] })[]): Line[] {
  const all = lines.flatMap(({ cells }) => cells)
  const gaps = new Set<number>()
  let before = -1
  all.forEach((cell, index) => {
    if (cell === null) return
    const last = all[before]
    if (
      last &&
      Date.parse(last.account.data_interval_end) < Date.parse(cell.account.data_interval_start ?? '')
    ) {
      for (let free = before + 1; free < index; free++) gaps.add(free)
    }
    before = index
  })
  let offset = 0
  return lines.map((line) => {
    const start = offset
    offset += line.cells.length
    return { ...line, cells: line.cells.map((cell, index) => (gaps.has(start + index) ? GAP : cell)) }
  })
}

function cellOf(account: IntervalAccount): Cell {
  return { account, kind: kindOf(account), rows: account.received ?? account.exported }
}

export function kindOf(account: IntervalAccount): StatusKind {
  if (balanceOf(account)?.addsUp === false) return 'failed'
  const { kind } = runState(account.status)
  if (isLive(account.status) || kind === 'failed') return kind
  return missingIn(account) > 0 ? 'skipped' : kind === 'skipped' ? 'delivered' : kind
}

export type Range = { from: string; to: string }

/** Those that lie in the range as a whole. */
export function within(accounts: readonly IntervalAccount[], { from, to }: Range): IntervalAccount[] {
  return accounts.filter(
    ({ data_interval_start: start, data_interval_end: end }) =>
      (start === null || Date.parse(start) >= Date.parse(from)) && Date.parse(end) <= Date.parse(to),
  )
}

/** From one column to another, in whichever direction it was drawn. */
export function rangeBetween(one: IntervalAccount, other: IntervalAccount): Range {
  const [first, last] = [one, other].sort(
    (a, b) => Date.parse(a.data_interval_end) - Date.parse(b.data_interval_end),
  )
  return { from: first!.data_interval_start ?? first!.data_interval_end, to: last!.data_interval_end }
}

const UNITS_MS: Record<string, number> = { M: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * What the picker of time ranges has given, as whole intervals; null for no choice. Without a bound it reaches to the first or
 * last of them, and `-24h` counts from the end of the last.
 */
export function rangeOfPicked(
  { after, before }: PickedRange,
  accounts: readonly IntervalAccount[],
  zone: string,
): Range | null {
  const [newest, oldest] = [accounts[0], accounts.at(-1)]
  if ((after === undefined && before === undefined) || !newest || !oldest) return null
  const end = newest.data_interval_end
  const from =
    after === undefined
      ? (oldest.data_interval_start ?? oldest.data_interval_end)
      : momentOf(after, end, zone)
  const part = within(accounts, { from, to: before ?? end })
  return part.length === 0 ? { from, to: before ?? end } : rangeBetween(part[0]!, part.at(-1)!)
}

function momentOf(text: string, end: string, zone: string): string {
  if (isInstant(text)) return text
  const [, count, unit] = /^-(\d+)([Mhd])$/.exec(text) ?? []
  if (count === undefined || unit === undefined)
    return instantOf(`${wallClock(end, zone).slice(0, 10)}T00:00`, zone)!
  return new Date(Date.parse(end) - Number(count) * UNITS_MS[unit]!).toISOString()
}
