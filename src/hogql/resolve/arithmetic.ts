// + - * / %, with times and intervals.
import type { ArithmeticOperation, Expr } from '../ast.ts'
import { isCertain } from '../functions/certainty.ts'
import type { Type, Value } from '../value.ts'
import type { Scope } from './scope.ts'

const CALENDAR_INTERVALS: ReadonlySet<string> = new Set(
  ['Day', 'Week', 'Month', 'Quarter', 'Year'].map((unit) => `tointerval${unit.toLowerCase()}`),
)
/** Days and longer follow the calendar of the project's zone; hours and shorter are lengths of time. */
const isCalendarInterval = (expr: Expr) =>
  expr.node === 'Call' && CALENDAR_INTERVALS.has(expr.name.toLowerCase())

const isTime = ({ kind }: Type) => kind === 'datetime' || kind === 'date'
const isAmount = ({ kind }: Type) => kind === 'integer' || kind === 'float' || kind === 'property'
const datetime: Type = { kind: 'datetime' }
const interval: Type = { kind: 'interval' }

export function arithmetic(node: ArithmeticOperation, scope: Scope): Value {
  const { resolve } = scope.compilation
  const left = resolve(node.left, scope)
  const right = resolve(node.right, scope)
  return (
    intervals(node, left, right, scope) ??
    times(node, left, right, scope) ??
    numbers(node, left, right, scope)
  )
}

function intervals(node: ArithmeticOperation, left: Value, right: Value, scope: Scope): Value | null {
  if (left.type.kind !== 'interval' && right.type.kind !== 'interval') return null
  const { dialect } = scope.compilation
  if (left.type.kind === 'interval' && right.type.kind === 'interval') {
    return { sql: `(${left.sql} ${node.op} ${right.sql})`, type: interval }
  }
  if (left.type.kind === 'interval') {
    if (node.op === '+') return shifted(right, '+', left, isCalendarInterval(node.left), scope)
    return { sql: `(${left.sql} ${node.op} ${dialect.number(right)})`, type: interval }
  }
  if (left.constant === 0 && node.op === '-') return { sql: `(-${right.sql})`, type: interval }
  if (node.op === '*') return { sql: `(${right.sql} * ${dialect.number(left)})`, type: interval }
  return shifted(left, node.op === '-' ? '-' : '+', right, isCalendarInterval(node.right), scope)
}

function shifted(time: Value, sign: '+' | '-', by: Value, follows_calendar: boolean, scope: Scope): Value {
  const { dialect } = scope.compilation
  if (!follows_calendar) return { sql: `(${dialect.datetime(time)} ${sign} ${by.sql})`, type: datetime }
  if (time.type.kind === 'date')
    return { sql: `CAST(${time.sql} ${sign} ${by.sql} AS DATE)`, type: time.type }
  return { sql: dialect.fromLocal(`(${dialect.local(time)} ${sign} ${by.sql})`), type: datetime }
}

function times(node: ArithmeticOperation, left: Value, right: Value, scope: Scope): Value | null {
  const { dialect } = scope.compilation
  if (node.op !== '+' && node.op !== '-') return null
  if (isTime(left.type) && isTime(right.type) && node.op === '-') {
    const sql =
      left.type.kind === 'date' && right.type.kind === 'date'
        ? `(${left.sql} - ${right.sql})`
        : dialect.secondsBetween(dialect.datetime(left), dialect.datetime(right))
    return { sql, type: { kind: 'integer' } }
  }
  const [time, amount] = isTime(left.type) ? [left, right] : [right, left]
  const isReversed = time === right && node.op === '-'
  if (!isTime(time.type) || !isAmount(amount.type) || isReversed) return null
  const shift = time.type.kind === 'date' ? dialect.shiftDays : dialect.shiftSeconds
  return { sql: shift(time.sql, node.op, dialect.number(amount)), type: time.type }
}

function numbers(node: ArithmeticOperation, left: Value, right: Value, scope: Scope): Value {
  const { dialect } = scope.compilation
  const isWhole = ({ type: { kind } }: Value) => kind === 'integer' || kind === 'boolean'
  const kind = node.op !== '/' && isWhole(left) && isWhole(right) ? 'integer' : 'float'
  const certain = [left, right].every(({ type }) => isCertain(type) && type.kind !== 'text')
  return { sql: `(${dialect.number(left)} ${node.op} ${dialect.number(right)})`, type: { kind, certain } }
}
