// What came back from a query, and how it can be shown: told by its columns' types and its rows.
import type { ChartSeries, ChartX } from '../ui/chart/Chart'
import type { View } from './address'

export type Result = {
  columns: readonly string[]
  /** ClickHouse's names. */
  types: readonly string[]
  rows: readonly (readonly unknown[])[]
}

export type ColumnKind = 'time' | 'day' | 'number' | 'text' | 'other'

/** More lines than these cannot be told apart; the rest are one more. */
const MOST_SERIES = 8
/** A list of more names than these is read as a table. */
const MOST_NAMES = 50
const MOST_NUMBERS = 4

export function columnKind(type: string): ColumnKind {
  const inner = /^(?:Nullable|LowCardinality)\((.*)\)$/.exec(type)?.[1]
  if (inner !== undefined) return columnKind(inner)
  if (/^(U?Int|Float|Decimal)/.test(type)) return 'number'
  if (type.startsWith('DateTime')) return 'time'
  if (type.startsWith('Date')) return 'day'
  return /^(String|FixedString|UUID|Enum|Bool)/.test(type) ? 'text' : 'other'
}

/** Integers beyond 2^53 come as text. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value === '') return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

/** Null where a view can be chosen; otherwise what the result lacks for it. */
export function viewDenials(result: Result): Record<View, string | null> {
  const chart = chartOf(result)
  const isAlong = chart !== null && chart.x.kind !== 'name'
  return {
    table: null,
    line:
      isAlong && chart.x.values.length > 1
        ? null
        : 'Needs a column of times or numbers, one of numbers beside it, and two rows.',
    bar: chart === null ? 'Needs a column of times, numbers or names, and one of numbers beside it.' : null,
    number: numbersOf(result) === null ? 'Needs one row with a number in it.' : null,
  }
}

/** As its shape suggests: only what shows every column of it. */
export function pickView(result: Result): View {
  const kinds = result.types.map(columnKind)
  const count = (...wanted: ColumnKind[]) => kinds.filter((kind) => wanted.includes(kind)).length
  const { length } = result.rows
  const numbers = count('number')
  if (length === 1 && numbers === kinds.length && numbers <= MOST_NUMBERS) return 'number'
  const chart = length > 1 ? chartOf(result) : null
  if (chart === null || numbers === 0) return 'table'
  if (count('time', 'day') === 1)
    return count('text') <= 1 &&
      numbers + count('text') + 1 === kinds.length &&
      (count('text') === 0 || numbers === 1)
      ? 'line'
      : 'table'
  const isList = kinds[0] !== 'other' && numbers >= kinds.length - 1 && length <= MOST_NAMES
  return isList && kinds.length > 1 && isDistinct(result) ? 'bar' : 'table'
}

const isDistinct = ({ rows }: Result) => new Set(rows.map(([first]) => first)).size === rows.length

/** The numbers of a result of one row, by their columns. */
export function numbersOf({
  columns,
  types,
  rows,
}: Result): { label: string; value: number | null }[] | null {
  const [row] = rows
  if (!row || rows.length !== 1) return null
  const numbers = columns.flatMap((label, at) =>
    columnKind(types[at]!) === 'number' ? [{ label, value: numberOf(row[at]) }] : [],
  )
  return numbers.length === 0 ? null : numbers
}

export type ChartData = { x: ChartX; series: ChartSeries[]; isSplit: boolean }

/** Along times before numbers before names; null when there is nothing to draw. */
export function chartOf({ columns, types, rows }: Result): ChartData | null {
  const kinds = types.map(columnKind)
  const at = kinds.findIndex((kind) => kind === 'time' || kind === 'day')
  const texts = indexes(kinds, 'text')
  const numbers = indexes(kinds, 'number')
  if (rows.length === 0 || numbers.length === 0) return null
  if (at >= 0) {
    const kind = kinds[at] as 'time' | 'day'
    const points = rows.map((row) => instantOf(row[at]))
    return texts.length === 1
      ? { ...splitByText(kind, points, rows, texts[0]!, numbers[0]!), isSplit: true }
      : { ...alongPoints(kind, points, rows, numbers, columns), isSplit: false }
  }
  if (texts.length > 0) {
    const x: ChartX = { kind: 'name', values: rows.map((row) => nameText(row[texts[0]!])) }
    return {
      x,
      series: numbers.slice(0, MOST_SERIES).map((column) => seriesOf(rows, column, columns)),
      isSplit: false,
    }
  }
  if (numbers.length < 2) return null
  const [first, ...others] = numbers
  const points = rows.map((row) => numberOf(row[first!]) ?? NaN)
  return { ...alongPoints('number', points, rows, others, columns), isSplit: false }
}

const indexes = (kinds: readonly ColumnKind[], wanted: ColumnKind) =>
  kinds.flatMap((kind, at) => (kind === wanted ? [at] : []))

const instantOf = (value: unknown) => (typeof value === 'string' ? Date.parse(value) : NaN)

const nameText = (value: unknown) =>
  value === '' ? '(empty)' : typeof value === 'string' ? value : JSON.stringify(value)

const seriesOf = (rows: Result['rows'], column: number, columns: readonly string[]): ChartSeries => ({
  label: columns[column]!,
  values: rows.map((row) => numberOf(row[column])),
})

type Along = Pick<ChartData, 'x' | 'series'>

function alongPoints(
  kind: 'time' | 'day' | 'number',
  points: readonly number[],
  rows: Result['rows'],
  numbers: readonly number[],
  columns: readonly string[],
): Along {
  const order = points
    .map((_, index) => index)
    .filter((index) => !Number.isNaN(points[index]))
    .sort((a, b) => points[a]! - points[b]!)
  const sorted = order.map((index) => rows[index]!)
  return {
    x: { kind, values: order.map((index) => points[index]!) },
    series: numbers.slice(0, MOST_SERIES).map((column) => seriesOf(sorted, column, columns)),
  }
}

/** One series for each text, largest first; those beyond the eighth are added up. */
function splitByText(
  kind: 'time' | 'day',
  points: readonly number[],
  rows: Result['rows'],
  text: number,
  number: number,
): Along {
  const values = [...new Set(points)].filter((point) => !Number.isNaN(point)).sort((a, b) => a - b)
  const places = new Map(values.map((value, index) => [value, index]))
  const sums = new Map<string, number>()
  for (const row of rows) {
    const name = nameText(row[text])
    sums.set(name, (sums.get(name) ?? 0) + Math.abs(numberOf(row[number]) ?? 0))
  }
  const names = [...sums]
    .sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .map(([name]) => name)
  const own = names.length > MOST_SERIES ? names.slice(0, MOST_SERIES - 1) : names
  const labels = names.length > own.length ? [...own, `${names.length - own.length} others`] : own
  const series = labels.map((label) => ({
    label,
    values: Array.from<number | null>({ length: values.length }).fill(null),
  }))
  for (const [index, row] of rows.entries()) {
    const place = places.get(points[index]!)
    const value = numberOf(row[number])
    if (place === undefined || value === null) continue
    const at = own.indexOf(nameText(row[text]))
    const line = series[at === -1 ? series.length - 1 : at]!.values
    line[place] = (line[place] ?? 0) + value
  }
  return { x: { kind, values }, series }
}
