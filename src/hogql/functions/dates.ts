// Instants and dates: reading, taking apart, counting between. All of it as the clock in the project's zone shows it.
import { queryError } from '../errors.ts'
import type { Printing, Value } from '../value.ts'
import {
  both,
  call,
  constantText,
  DATE,
  DATETIME,
  define,
  FLOAT,
  INTEGER,
  type Named,
  nth,
  once,
  read,
  TEXT,
} from './define.ts'
import { isCalendarUnit, type Unit, unitNamed } from './units.ts'

const now = (printing: Printing): string => {
  const milliseconds = printing.now.getTime()
  return printing.engine === 'clickhouse'
    ? `fromUnixTimestamp64Milli(toInt64(${printing.bind(milliseconds)}), 'UTC')`
    : `make_timestamp(cast(${printing.bind(milliseconds)} as bigint) * 1000)`
}

/** The day of the query, moved by some days. */
const dayOfQuery = (name: string, shift: string): Named => ({
  name,
  aliases: name === 'today' ? ['current_date', 'curdate'] : [],
  args: [0, 0],
  type: DATE,
  ...both((_, printing) => {
    const today = printing.date({ sql: now(printing), type: DATETIME })
    return shift === '' ? today : `(${today} ${shift})`
  }),
})

/** Text with an offset says which instant it means; a zone is only for text without. */
const OFFSET = String.raw`:\d{2}(\.\d+)?\s*([zZ]|[+-]\d{2}(:?\d{2})?)$`

const assertZone = (zone: string) => {
  try {
    if (/^[A-Za-z]/.test(zone)) return Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    // Told below.
  }
  throw queryError('There is no time zone of this name.')
}

const zoneOf = (value: Value | undefined): string => {
  const zone = constantText(value, 'The time zone')
  assertZone(zone)
  return zone
}

/** What an instant's clock shows in a zone, as DuckDB's TIMESTAMP, … */
const clockIn = (zone: string, instant: string) => `timezone(${zone}, timezone('UTC', ${instant}))`
/** … and the instant at which it does. */
const instantIn = (zone: string, clock: string) => `timezone('UTC', timezone(${zone}, ${clock}))`

const isText = ({ type: { kind } }: Value) => kind === 'text' || kind === 'property'

const readInZone = (value: Value, zone: Value, printing: Printing): string => {
  const name = printing.bind(zoneOf(zone))
  if (!isText(value)) return read('datetime', value, printing)
  return once([printing.text(value)], (text) => {
    const instant = `timezone('UTC', try_cast(${text} as timestamptz))`
    const clock = instantIn(name, `try_cast(${text} as timestamp)`)
    return `case when regexp_matches(${text}, '${OFFSET}') then ${instant} else ${clock} end`
  })
}

/** `zone_at`: which argument is the zone; those between are precisions, and all instants have microseconds here. */
const toDateTime = (name: string, zone_at: number, aliases: string[]): Named => ({
  name,
  aliases,
  args: [1, zone_at + 1],
  type: DATETIME,
  duckdb: (args, printing) => {
    const zone = args[zone_at]
    return zone ? readInZone(nth(args, 0), zone, printing) : read('datetime', nth(args, 0), printing)
  },
  clickhouse: (args, printing) => {
    const zone = args[zone_at]
    if (!zone || !isText(nth(args, 0))) return read('datetime', nth(args, 0), printing)
    return `parseDateTime64BestEffortOrNull(${printing.text(nth(args, 0))}, 6, ${printing.bind(zoneOf(zone))})`
  },
})

const part = (name: string, duckdb: (clock: string) => string, aliases?: string[]) =>
  define(name, ['local'], INTEGER, duckdb, { aliases })

/** Digits of the clock as one number, such as 202401. */
const digits = (name: string, format: string) =>
  define(name, ['local'], INTEGER, (clock) => `cast(strftime(${clock}, '${format}') as bigint)`)

/** Modes that are the same everywhere: weeks from Sunday, and those of ISO 8601. */
const toWeek: Named = {
  name: 'toWeek',
  aliases: ['week'],
  args: [1, 2],
  type: INTEGER,
  duckdb: (args, printing) => {
    const clock = read('local', nth(args, 0), printing)
    return modeOf(args) === 3 ? `week(${clock})` : `cast(strftime(${clock}, '%U') as bigint)`
  },
  clickhouse: (args, printing) =>
    call('toWeek', [read('local', nth(args, 0), printing), String(modeOf(args))]),
}
const modeOf = (args: readonly Value[]): 0 | 3 => {
  const mode = args[1]?.constant ?? 0
  if (mode !== 0 && mode !== 3) throw queryError(`The mode of 'toWeek' is 0 (from Sunday) or 3 (ISO 8601).`)
  return mode
}

/** Modes: 0 from Monday, 1 to 7; 1 from Monday, 0 to 6; 2 from Sunday, 0 to 6; 3 from Sunday, 1 to 7. */
const toDayOfWeek: Named = {
  name: 'toDayOfWeek',
  aliases: ['dayOfWeek'],
  args: [1, 2],
  type: INTEGER,
  duckdb: (args, printing) => {
    const clock = read('local', nth(args, 0), printing)
    return [`isodow(${clock})`, `(isodow(${clock}) - 1)`, `dayofweek(${clock})`, `(dayofweek(${clock}) + 1)`][
      dayModeOf(args)
    ]!
  },
  clickhouse: (args, printing) =>
    call('toDayOfWeek', [read('local', nth(args, 0), printing), String(dayModeOf(args))]),
}
const dayModeOf = (args: readonly Value[]): number => {
  const mode = args[1] ? args[1].constant : 0
  if (mode !== 0 && mode !== 1 && mode !== 2 && mode !== 3)
    throw queryError(`The mode of 'toDayOfWeek' is a number from 0 to 3.`)
  return mode
}

/** Hours begin where the local clock says so, but their number is that of real hours, also when the clock is changed. */
const beginningOfHour = (value: Value, printing: Printing) =>
  printing.fromLocal(`date_trunc('hour', ${read('local', value, printing)})`)

/** DuckDB does not count weeks by their Mondays, so days between Mondays are counted. */
const boundaries = (unit: Unit, from: Value, to: Value, printing: Printing): string => {
  if (unit === 'week') {
    const mondays = [from, to].map((value) => `date_trunc('week', ${read('local', value, printing)})`)
    return `(date_diff('day', ${mondays.join(', ')}) // 7)`
  }
  if (unit === 'hour' && printing.timezone !== 'UTC')
    return `date_diff('hour', ${beginningOfHour(from, printing)}, ${beginningOfHour(to, printing)})`
  const sides = [from, to].map((value) => read(isCalendarUnit(unit) ? 'local' : 'datetime', value, printing))
  return `date_diff('${unit}', ${sides.join(', ')})`
}

const between = (
  name: string,
  aliases: string[],
  duckdb: (unit: Unit, from: Value, to: Value, printing: Printing) => string,
): Named => ({
  name,
  aliases,
  args: [3, 3],
  type: INTEGER,
  duckdb: (args, printing) => duckdb(unitNamed(args[0]), nth(args, 1), nth(args, 2), printing),
  clickhouse: (args, printing) =>
    call(name, [
      `'${unitNamed(args[0])}'`,
      read('local', nth(args, 1), printing),
      read('local', nth(args, 2), printing),
    ]),
})

const fullUnits = (unit: Unit, from: Value, to: Value, printing: Printing): string => {
  const sides = [from, to].map((value) => read(isCalendarUnit(unit) ? 'local' : 'datetime', value, printing))
  return `date_sub('${unit}', ${sides.join(', ')})`
}

/** Out of range is NULL. */
const fromUnix = (name: string, per_second: number): Named => {
  const micros = 1_000_000 / per_second
  return {
    name,
    args: [1, 1],
    type: DATETIME,
    duckdb: (args, printing) => {
      const seconds = `cast(${printing.number(nth(args, 0))} as double) / ${per_second}`
      return read('datetime', { sql: `(${seconds})`, type: FLOAT }, printing)
    },
    clickhouse: (args, printing) =>
      `fromUnixTimestamp64Micro(toInt64(${printing.number(nth(args, 0))} * ${micros}), 'UTC')`,
  }
}

const toUnix = (name: string, duckdb: (instant: string) => string) =>
  define(name, ['datetime'], INTEGER, duckdb)

/** The same instant cannot carry a zone here, so it is moved until the project's clock shows what the zone's clock did. */
const toTimeZone: Named = {
  name: 'toTimeZone',
  args: [2, 2],
  type: DATETIME,
  duckdb: (args, printing) => {
    const zone = zoneOf(args[1])
    const instant = read('datetime', nth(args, 0), printing)
    return zone === printing.timezone ? instant : printing.fromLocal(clockIn(printing.bind(zone), instant))
  },
  clickhouse: (args, printing) =>
    call('toTimeZone', [read('datetime', nth(args, 0), printing), printing.bind(zoneOf(args[1]))]),
}

const toDate = (name: string, aliases: string[]): Named => ({
  name,
  aliases,
  args: [1, 1],
  type: DATE,
  ...both((args, printing) => read('date', nth(args, 0), printing)),
})

export const dateFunctions: readonly Named[] = [
  {
    name: 'now',
    aliases: ['now64', 'current_timestamp'],
    args: [0, 1],
    type: DATETIME,
    ...both((_, p) => now(p)),
  },
  dayOfQuery('today', ''),
  dayOfQuery('yesterday', '- 1'),
  toDate('toDate', ['toDate32', 'toDateOrNull', 'date']),
  toDateTime('toDateTime', 1, [
    'toDateTimeOrNull',
    'parseDateTimeBestEffort',
    'parseDateTimeBestEffortOrNull',
    'timestamp',
  ]),
  toDateTime('toDateTime64', 2, ['parseDateTime64BestEffort', 'parseDateTime64BestEffortOrNull']),
  fromUnix('fromUnixTimestamp', 1),
  fromUnix('fromUnixTimestamp64Milli', 1000),
  fromUnix('fromUnixTimestamp64Micro', 1_000_000),
  toUnix('toUnixTimestamp', (instant) => `cast(floor(epoch(${instant})) as bigint)`),
  toUnix('toUnixTimestamp64Milli', (instant) => `epoch_ms(${instant})`),
  toUnix('toUnixTimestamp64Micro', (instant) => `epoch_us(${instant})`),
  toTimeZone,
  part('toYear', (clock) => `year(${clock})`, ['year']),
  part('toQuarter', (clock) => `quarter(${clock})`, ['quarter']),
  part('toMonth', (clock) => `month(${clock})`, ['month']),
  part('toDayOfYear', (clock) => `dayofyear(${clock})`, ['dayOfYear']),
  part('toDayOfMonth', (clock) => `day(${clock})`, ['day', 'dayOfMonth']),
  toDayOfWeek,
  part('toHour', (clock) => `hour(${clock})`, ['hour']),
  part('toMinute', (clock) => `minute(${clock})`, ['minute']),
  part('toSecond', (clock) => `second(${clock})`, ['second']),
  part('toISOWeek', (clock) => `week(${clock})`),
  part('toISOYear', (clock) => `isoyear(${clock})`),
  toWeek,
  digits('toYYYYMM', '%Y%m'),
  digits('toYYYYMMDD', '%Y%m%d'),
  digits('toYYYYMMDDhhmmss', '%Y%m%d%H%M%S'),
  define('monthName', ['local'], TEXT, (clock) => `monthname(${clock})`),
  between('dateDiff', ['date_diff'], boundaries),
  between('age', [], fullUnits),
]
