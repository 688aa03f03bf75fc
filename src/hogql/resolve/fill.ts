// WITH FILL: rows for the numbers or times that are missing between others. Their other columns hold nothing: 0, ''.
import type { Expr, WithFillExpr } from '../ast.ts'
import { queryError } from '../errors.ts'
import { capitalised, intervalOf, isCalendarUnit, UNITS, type Unit } from '../functions/units.ts'
import type { Type, Value } from '../value.ts'
import { into } from './kinds.ts'
import { at, type Scope } from './scope.ts'

const MAX_FILLED = 50_000

type Kind = 'integer' | 'float' | 'date' | 'datetime'
type Step = { size: number; unit: Unit | null }

export type Fill = {
  type: { kind: Kind }
  /** The first value, and the one before which it ends. */
  from: string | null
  to: string | null
  step: Step
  descending: boolean
}

export function resolveFill(
  { from_value, to_value, step_value, ...span }: WithFillExpr,
  { type }: Value,
  direction: 'ASC' | 'DESC',
  scope: Scope,
): Fill {
  const { kind } = type
  if (kind !== 'integer' && kind !== 'float' && kind !== 'date' && kind !== 'datetime')
    throw queryError('WITH FILL needs a number or a time to order by', span)
  // Bounds are the same for all rows: no column can stand in them.
  const apart: Scope = { ...at(scope, 'from'), sources: [], names: new Map(), aliases: new Map(), row: null }
  const { dialect, resolve } = scope.compilation
  const bound = (expr: Expr | undefined) => (expr ? into(type, resolve(expr, apart), dialect) : null)
  const descending = direction === 'DESC'
  const step = step_value ? stepOf(step_value, kind) : stepOfUnit(descending ? -1 : 1, null, kind)
  if (step.size === 0 || step.size < 0 !== descending)
    throw queryError(`STEP must be ${descending ? 'below' : 'above'} 0 here`, step_value ?? span)
  return { type: { kind }, from: bound(from_value), to: bound(to_value), step, descending }
}

/** `2`, or `interval 1 day`. */
function stepOf(expr: Expr, kind: Kind): Step {
  const [number, unit] =
    expr.node === 'Call' && expr.args.length === 1
      ? [expr.args[0], UNITS.find((name) => expr.name.toLowerCase() === `tointerval${name}`)]
      : [expr, null]
  const size = number?.node === 'Constant' ? number.value : null
  if (unit === undefined || typeof size !== 'number' || Math.abs(size) > Number.MAX_SAFE_INTEGER)
    throw queryError('STEP must be a number or an interval', expr)
  const isTime = kind === 'date' || kind === 'datetime'
  if (unit && !isTime) throw queryError('STEP must be a number here', expr)
  if ((unit || kind !== 'float') && !Number.isInteger(size))
    throw queryError('STEP must be a whole number here', expr)
  return stepOfUnit(size, unit, kind)
}

/** A plain number counts days between dates, and seconds between times. */
function stepOfUnit(size: number, unit: Unit | null, kind: Kind): Step {
  if (kind === 'date') return { size, unit: unit ?? 'day' }
  return { size, unit: kind === 'datetime' ? (unit ?? 'second') : null }
}

/** As ClickHouse has it. */
export function fillClause({ type, from, to, step: { size, unit } }: Fill): string {
  const step = unit ? `toInterval${capitalised(unit)}(${size})` : String(size)
  // Bounds that may be NULL are refused, though these never are; and so are finer times than the column has.
  const whole = (sql: string) => (type.kind === 'datetime' ? `toDateTime(${sql})` : sql)
  const bound = (word: string, sql: string | null) =>
    sql ? ` ${word} ${whole(`assumeNotNull(${sql})`)}` : ''
  return ` WITH FILL${bound('FROM', from)}${bound('TO', to)} STEP ${step}`
}

type Rows = { sql: string; columns: readonly { value: Value; column: string }[]; column: string }

/** The rows, and those that are missing between them. */
export function filled(fill: Fill, { sql, columns, column }: Rows, scope: Scope): string {
  const { dialect, fresh } = scope.compilation
  const { step, descending } = fill
  const [rows, bounds, steps] = [fresh('q'), fresh('t'), fresh('t')]
  const [low, high] = descending ? ['max', 'min'] : ['min', 'max']
  const first = fill.from ?? `(SELECT ${low}(${column}) FROM ${rows})`
  const end = fill.to ?? `(SELECT ${high}(${column}) FROM ${rows})`
  const made = moved(`${bounds}.first`, `${steps}.number`, fill, scope)
  const series =
    `SELECT ${made} AS value, ${bounds}.ending FROM (SELECT ${first} AS first, ${end} AS ending) AS ${bounds}` +
    ` CROSS JOIN LATERAL ${dialect.numbers('0', stepsBetween(bounds, step), MAX_FILLED)} AS ${steps}`
  const list = columns.map((other) => (other.column === column ? 'value' : emptyOf(other.value.type)))
  return (
    `WITH ${rows} AS MATERIALIZED (${sql}) SELECT * FROM ${rows} UNION ALL SELECT ${list.join(', ')}` +
    ` FROM (${series}) AS ${fresh('t')} WHERE value ${descending ? '>' : '<'} ending` +
    ` AND value NOT IN (SELECT ${column} FROM ${rows} WHERE ${column} IS NOT NULL)`
  )
}

/** At least as many as lie before the end. */
function stepsBetween(bounds: string, { size, unit }: Step): string {
  const [from, to] = size < 0 ? ['ending', 'first'] : ['first', 'ending']
  const distance =
    unit === null
      ? `(${bounds}.${to} - ${bounds}.${from})`
      : `date_diff('${unit}', ${bounds}.${from}, ${bounds}.${to})`
  return `CAST(greatest(0, ceil(${distance} / ${Math.abs(size)}) + 1) AS BIGINT)`
}

/** The value some steps on. Days and longer are those of the project's zone. */
function moved(first: string, number: string, { type, step: { size, unit } }: Fill, scope: Scope): string {
  const { dialect } = scope.compilation
  if (unit === null) return `${first} + ${number} * ${size}`
  const by = intervalOf(unit, `${number} * ${size}`)
  if (type.kind === 'date') return `CAST(${first} + ${by} AS DATE)`
  if (!isCalendarUnit(unit)) return `${first} + ${by}`
  return dialect.fromLocal(`${dialect.local({ sql: first, type })} + ${by}`)
}

const EMPTY: Readonly<Partial<Record<Type['kind'], string>>> = {
  integer: '0',
  float: 'CAST(0 AS DOUBLE)',
  text: `''`,
  boolean: 'false',
  date: `DATE '1970-01-01'`,
  datetime: `TIMESTAMP '1970-01-01'`,
  array: '[]',
}

const emptyOf = ({ kind }: Type) => EMPTY[kind] ?? 'NULL'
