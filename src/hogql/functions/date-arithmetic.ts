// Moving instants and dates, intervals, and the beginnings of days, weeks, months and other stretches of time.
import { queryError } from '../errors.ts'
import type { Printing, Type, Value } from '../value.ts'
import { call, DATE, DATETIME, type Named, nth, once, read } from './define.ts'
import {
  beginsOnDate,
  capitalised,
  intervalOf,
  type IntervalType,
  isCalendarUnit,
  type Unit,
  unitNamed,
  unitOfInterval,
  UNITS,
} from './units.ts'

type Sign = '+' | '-'

const isDate = ({ type: { kind } }: Value) => kind === 'date'
const movedType = (unit: Unit, value: Value): Type =>
  isDate(value) && isCalendarUnit(unit) ? DATE : DATETIME

/** So far no clock or calendar ends: longer ways are tried first. */
const SAFE_AMOUNT = 100_000
const isSafe = ({ constant }: Value) => typeof constant === 'number' && Math.abs(constant) <= SAFE_AMOUNT

/** Days and longer move the local clock, hours and shorter the instant. Where time as we count it ends there is NULL. */
const moved = (unit: Unit, sign: Sign, value: Value, amount: Value, printing: Printing): string => {
  const start =
    isDate(value) && isCalendarUnit(unit)
      ? value.sql
      : read(isCalendarUnit(unit) ? 'local' : 'datetime', value, printing)
  const count = read('integer', amount, printing)
  const end = isSafe(amount)
    ? `(${start} ${sign} ${intervalOf(unit, count)})`
    : once([start, count], (from, by) => `try(${from} ${sign} ${intervalOf(unit, by)})`)
  if (movedType(unit, value).kind === 'date') return `cast(${end} as date)`
  return isCalendarUnit(unit) ? printing.fromLocal(end) : end
}

const movedInClickhouse = (
  unit: Unit,
  sign: Sign,
  value: Value,
  amount: Value,
  printing: Printing,
): string => {
  const start = isDate(value) ? value.sql : read('local', value, printing)
  const name = `${sign === '+' ? 'add' : 'subtract'}${capitalised(unit)}s`
  const end = call(name, [start, read('integer', amount, printing)])
  return movedType(unit, value).kind === 'date' ? end : printing.fromLocal(end)
}

const move = (unit: Unit, sign: Sign, value: Value, amount: Value, printing: Printing): string =>
  (printing.engine === 'clickhouse' ? movedInClickhouse : moved)(unit, sign, value, amount, printing)

/** `addDays`, `subtractDays` and so on. */
const mover = (unit: Unit, sign: Sign): Named => ({
  name: `${sign === '+' ? 'add' : 'subtract'}${capitalised(unit)}s`,
  args: [2, 2],
  type: (args) => movedType(unit, nth(args, 0)),
  duckdb: (args, printing) => move(unit, sign, nth(args, 0), nth(args, 1), printing),
  clickhouse: (args, printing) => move(unit, sign, nth(args, 0), nth(args, 1), printing),
})

/** `dateAdd('day', n, x)`, or `dateAdd(x, interval n day)`. */
const moveByUnit = (name: string, sign: Sign, aliases: string[]): Named => {
  const print: Named['duckdb'] = (args, printing) => {
    if (args.length === 3) return move(unitNamed(args[0]), sign, nth(args, 2), nth(args, 1), printing)
    const [value, by] = [nth(args, 0), nth(args, 1)]
    const unit = unitOfInterval(by.type)
    const start = isCalendarUnit(unit) ? read('local', value, printing) : read('datetime', value, printing)
    const end = `(${start} ${sign} ${by.sql})`
    if (movedType(unit, value).kind === 'date') return `cast(${end} as date)`
    return isCalendarUnit(unit) ? printing.fromLocal(end) : end
  }
  return {
    name,
    aliases,
    args: [2, 3],
    type: (args) =>
      args.length === 3
        ? movedType(unitNamed(args[0]), nth(args, 2))
        : movedType(unitOfInterval(nth(args, 1).type), nth(args, 0)),
    duckdb: print,
    clickhouse: print,
  }
}

const interval = (unit: Unit): Named => {
  return {
    name: `toInterval${capitalised(unit)}`,
    args: [1, 1],
    type: ([amount]): IntervalType => ({ kind: 'interval', unit, amount: amount?.constant }),
    duckdb: (args, printing) => {
      const amount = read('integer', nth(args, 0), printing)
      return isSafe(nth(args, 0))
        ? intervalOf(unit, amount)
        : once([amount], (by) => `try(${intervalOf(unit, by)})`)
    },
    clickhouse: (args, printing) =>
      call(`toInterval${capitalised(unit)}`, [read('integer', nth(args, 0), printing)]),
  }
}

/**
 * A beginning on the local clock as an instant. What passed since then is taken from the instant itself: in the hour that
 * comes twice in autumn the local clock alone would lead back to the wrong one.
 */
const beginning = (
  unit: Unit,
  value: Value,
  printing: Printing,
  begin: (clock: string) => string,
): string => {
  if (beginsOnDate(unit)) return `cast(${begin(read('local', value, printing))} as date)`
  if (unit === 'day' || printing.timezone === 'UTC')
    return printing.fromLocal(begin(read('local', value, printing)))
  return once([read('datetime', value, printing)], (it) => {
    const clock = printing.local({ sql: it, type: DATETIME })
    return `(${it} - (${clock} - ${begin(clock)}))`
  })
}
const beginningType = (unit: Unit): Type => (beginsOnDate(unit) ? DATE : DATETIME)

const inClickhouse = (unit: Unit, sql: string, printing: Printing) =>
  beginsOnDate(unit) ? sql : printing.fromLocal(sql)

const truncated = (unit: Unit) => (clock: string) => `date_trunc('${unit}', ${clock})`

const startOf = (unit: Unit, name = `toStartOf${capitalised(unit)}`): Named => ({
  name,
  args: [1, 1],
  type: beginningType(unit),
  duckdb: (args, printing) => beginning(unit, nth(args, 0), printing, truncated(unit)),
  clickhouse: (args, printing) =>
    inClickhouse(unit, call(name, [read('local', nth(args, 0), printing)]), printing),
})

/** ClickHouse counts hours from midnight, days and the rest from 1970, weeks from its first Monday, months and more from the year 0. */
const originOf = (unit: Unit, clock: string): string => {
  if (unit === 'hour') return `date_trunc('day', ${clock})`
  if (unit === 'week') return `timestamp '1970-01-05'`
  return beginsOnDate(unit) ? `timestamp '0001-01-01 (BC) 00:00:00'` : `timestamp '1970-01-01'`
}
const bucket = (unit: Unit, length: string) => (clock: string) =>
  `time_bucket(${length}, ${clock}, ${originOf(unit, clock)})`

const startOfMinutes = (word: string, minutes: number): Named => {
  const name = `toStartOf${word}Minutes`
  return {
    name,
    aliases: word === 'Five' ? ['toStartOfFiveMinute'] : [],
    args: [1, 1],
    type: DATETIME,
    duckdb: (args, printing) =>
      beginning('minute', nth(args, 0), printing, bucket('minute', `to_minutes(${minutes})`)),
    clickhouse: (args, printing) => printing.fromLocal(call(name, [read('local', nth(args, 0), printing)])),
  }
}

/** Both engines fail on another only when the query runs. */
const aboveZero = (length: Value): Value => {
  const { amount } = length.type as IntervalType
  if (typeof amount === 'number' && amount <= 0)
    throw queryError(`The interval of 'toStartOfInterval' must be above 0`)
  return length
}

const startOfInterval: Named = {
  name: 'toStartOfInterval',
  args: [2, 2],
  type: (args) => beginningType(unitOfInterval(aboveZero(nth(args, 1)).type)),
  duckdb: (args, printing) => {
    const length = nth(args, 1)
    const unit = unitOfInterval(length.type)
    return beginning(unit, nth(args, 0), printing, bucket(unit, length.sql))
  },
  clickhouse: (args, printing) => {
    const length = nth(args, 1)
    const sql = call('toStartOfInterval', [read('local', nth(args, 0), printing), length.sql])
    return inClickhouse(unitOfInterval(length.type), sql, printing)
  },
}

/** Weeks from Sunday (mode 0) or from Monday (the odd modes). */
const startOfWeek: Named = {
  name: 'toStartOfWeek',
  args: [1, 2],
  type: DATE,
  duckdb: (args, printing) => {
    const monday = (clock: string) => `date_trunc('week', ${clock})`
    const sunday = (clock: string) => `(date_trunc('week', ${clock} + to_days(1)) - to_days(1))`
    return beginning('week', nth(args, 0), printing, isFromMonday(args) ? monday : sunday)
  },
  clickhouse: (args, printing) =>
    call('toStartOfWeek', [read('local', nth(args, 0), printing), isFromMonday(args) ? '1' : '0']),
}
const isFromMonday = (args: readonly Value[]): boolean => {
  const mode = args[1]?.constant ?? 0
  if (typeof mode !== 'number' || !Number.isInteger(mode) || mode < 0 || mode > 9)
    throw queryError(`The mode of 'toStartOfWeek' is a number from 0 to 9.`)
  return mode % 2 === 1
}

const dateTrunc: Named = {
  name: 'dateTrunc',
  aliases: ['date_trunc'],
  args: [2, 2],
  type: (args) => beginningType(unitNamed(args[0])),
  duckdb: (args, printing) => {
    const unit = unitNamed(args[0])
    return beginning(unit, nth(args, 1), printing, truncated(unit))
  },
  clickhouse: (args, printing) => {
    const unit = unitNamed(args[0])
    return inClickhouse(
      unit,
      call('dateTrunc', [`'${unit}'`, read('local', nth(args, 1), printing)]),
      printing,
    )
  },
}

const lastDayOfMonth: Named = {
  name: 'toLastDayOfMonth',
  aliases: ['last_day'],
  args: [1, 1],
  type: DATE,
  duckdb: (args, printing) => `last_day(${read('local', nth(args, 0), printing)})`,
  clickhouse: (args, printing) => call('toLastDayOfMonth', [read('local', nth(args, 0), printing)]),
}

const START_UNITS = ['millisecond', 'second', 'minute', 'hour', 'day', 'month', 'quarter', 'year'] as const

export const dateArithmeticFunctions: readonly Named[] = [
  ...UNITS.flatMap((unit) => [mover(unit, '+'), mover(unit, '-'), interval(unit)]),
  moveByUnit('dateAdd', '+', ['date_add']),
  moveByUnit('dateSub', '-', ['date_sub']),
  ...START_UNITS.map((unit) => startOf(unit)),
  startOf('week', 'toMonday'),
  startOfWeek,
  startOfMinutes('Five', 5),
  startOfMinutes('Ten', 10),
  startOfMinutes('Fifteen', 15),
  startOfInterval,
  dateTrunc,
  lastDayOfMonth,
]
