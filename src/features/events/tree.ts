// HogQL trees as the API builds them: it never writes text that would have to be parsed again.
import { formatMicros } from '../../lib/microseconds.ts'
import type { CompareOperator, Constant, Expr, Field, OrderExpr } from '../../hogql/ast.ts'

export function field(...chain: (string | number)[]): Field {
  return { node: 'Field', chain }
}

/** A column of the events themselves, whatever a query may call by the same name. */
export function eventField(name: string): Field {
  return field('events', name)
}

export function constant(value: Constant['value']): Constant {
  return { node: 'Constant', value }
}

/** An instant. The zone is part of the text, so the project's own does not matter. */
export function moment(micros: bigint): Constant {
  return constant(formatMicros(micros))
}

export function compare(left: Expr, op: CompareOperator, right: Expr): Expr {
  return { node: 'CompareOperation', op, left, right }
}

export function call(name: string, ...args: Expr[]): Expr {
  return { node: 'Call', name, args }
}

export function oneOf(left: Expr, values: readonly string[]): Expr {
  // An empty list of values is no HogQL.
  if (values.length === 0) return constant(false)
  if (values.length === 1) return compare(left, '==', constant(values[0]!))
  return compare(left, 'in', { node: 'Tuple', exprs: values.map(constant) })
}

export function allOf(exprs: readonly Expr[]): Expr | undefined {
  return exprs.length > 1 ? { node: 'And', exprs } : exprs[0]
}

export function anyOf(...exprs: Expr[]): Expr {
  return { node: 'Or', exprs }
}

export function descending(expr: Expr): OrderExpr {
  return { node: 'OrderExpr', expr, order: 'DESC' }
}

export function ascending(expr: Expr): OrderExpr {
  return { node: 'OrderExpr', expr, order: 'ASC' }
}
