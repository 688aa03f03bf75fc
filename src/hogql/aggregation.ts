// Which expressions aggregate: those who build queries must know what belongs into GROUP BY and what into HAVING.
import type { Expr } from './ast.ts'
import { aggregates, scalarFunctions } from './functions/catalogue.ts'
import type { Aggregate } from './functions/function.ts'

/** `has_condition`: called as `…If`, the last argument is the condition. */
export type FoundAggregate = { entry: Aggregate & { name: string }; has_condition: boolean }

export function findAggregate(name: string): FoundAggregate | null {
  const key = name.toLowerCase()
  const entry = Object.hasOwn(aggregates, key) ? aggregates[key] : undefined
  if (entry) return { entry, has_condition: false }
  if (!key.endsWith('if') || Object.hasOwn(scalarFunctions, key)) return null
  const base = key.slice(0, -2)
  const conditional = Object.hasOwn(aggregates, base) ? aggregates[base] : undefined
  return conditional ? { entry: conditional, has_condition: true } : null
}

/** Subqueries are not looked into: they aggregate for themselves. */
export function hasAggregate(expr: Expr): boolean {
  if (expr.node === 'SelectQuery' || expr.node === 'SelectSetQuery') return false
  return (expr.node === 'Call' && findAggregate(expr.name) !== null) || partsOf(expr).some(hasAggregate)
}

/** The expressions directly inside one. */
export function partsOf(expr: Exclude<Expr, { node: 'SelectQuery' | 'SelectSetQuery' }>): readonly Expr[] {
  switch (expr.node) {
    case 'Field':
    case 'Constant':
      return []
    case 'Call':
      return [...expr.args, ...(expr.params ?? []), ...(expr.filter_expr ? [expr.filter_expr] : [])]
    case 'Lambda':
    case 'Alias':
    case 'Not':
    case 'TypeCast':
    case 'TryCast':
    case 'Placeholder':
      return [expr.expr]
    case 'And':
    case 'Or':
    case 'Array':
    case 'Tuple':
      return expr.exprs
    case 'CompareOperation':
    case 'IsDistinctFrom':
    case 'ArithmeticOperation':
      return [expr.left, expr.right]
    case 'BetweenExpr':
      return [expr.expr, expr.low, expr.high]
    case 'ArrayAccess':
      return [expr.array, expr.property]
    case 'ArraySlice':
      return [
        expr.array,
        ...(expr.start_expr ? [expr.start_expr] : []),
        ...(expr.end_expr ? [expr.end_expr] : []),
      ]
    case 'TupleAccess':
      return [expr.tuple]
    case 'Dict':
      return expr.items.flat()
    case 'WindowFunction': {
      const { partition_by = [], order_by = [] } = expr.over_expr ?? {}
      return [...expr.exprs, ...expr.args, ...partition_by, ...order_by.map((order) => order.expr)]
    }
  }
}
