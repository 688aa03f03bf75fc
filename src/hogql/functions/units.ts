// Units of time: the words users may write for them, and how DuckDB says them.
import { queryError } from '../errors.ts'
import type { Type, Value } from '../value.ts'
import { constantText } from './define.ts'

export type Unit =
  | 'microsecond'
  | 'millisecond'
  | 'second'
  | 'minute'
  | 'hour'
  | 'day'
  | 'week'
  | 'month'
  | 'quarter'
  | 'year'

const SHORT_NAMES: Readonly<Record<Unit, readonly string[]>> = {
  microsecond: ['us', 'u'],
  millisecond: ['ms'],
  second: ['ss', 's'],
  minute: ['mi', 'n'],
  hour: ['hh', 'h'],
  day: ['dd', 'd'],
  week: ['wk', 'ww'],
  month: ['mm', 'm'],
  quarter: ['qq', 'q'],
  year: ['yyyy', 'yy'],
}
export const UNITS = Object.keys(SHORT_NAMES) as Unit[]

const UNIT_BY_WORD: ReadonlyMap<string, Unit> = new Map(
  UNITS.flatMap((unit) => [unit, `${unit}s`, ...SHORT_NAMES[unit]].map((word) => [word, unit] as const)),
)

/** Units reach the SQL by this list only. */
export const unitNamed = (value: Value | undefined): Unit => {
  const unit = UNIT_BY_WORD.get(constantText(value, 'The unit of time').toLowerCase())
  if (!unit) throw queryError(`The unit of time must be one of ${UNITS.join(', ')}.`)
  return unit
}

/** Units from a day on follow the calendar; shorter ones are a length of time wherever one is. */
const CALENDAR_UNITS: ReadonlySet<Unit> = new Set<Unit>(['day', 'week', 'month', 'quarter', 'year'])
export const isCalendarUnit = (unit: Unit) => CALENDAR_UNITS.has(unit)

/** Weeks and longer begin on a day, so their beginning is a date. */
export const beginsOnDate = (unit: Unit) => unit !== 'day' && isCalendarUnit(unit)

export const capitalised = (unit: Unit) => `${unit.slice(0, 1).toUpperCase()}${unit.slice(1)}`

/** DuckDB: `amount` is a whole number; what no interval can hold is NULL. */
export const intervalOf = (unit: Unit, amount: string): string =>
  isCalendarUnit(unit) ? `to_${unit}s(try_cast(${amount} as integer))` : `to_${unit}s(${amount})`

/** Intervals remember their unit, so that toStartOfInterval knows from where to count, and their amount where it is a constant. */
export type IntervalType = { kind: 'interval'; unit: Unit; amount?: Value['constant'] }
export const unitOfInterval = (type: Type): Unit => {
  if (type.kind === 'interval' && 'unit' in type) return (type as IntervalType).unit
  throw queryError('An interval such as `interval 5 minute` is expected here.')
}
