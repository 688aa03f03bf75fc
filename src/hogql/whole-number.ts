// Numbers of rows: those of LIMIT and OFFSET.
import type { Expr } from './ast.ts'
import { queryError } from './errors.ts'

export function wholeNumber(expr: Expr, clause: 'LIMIT' | 'OFFSET'): number {
  const value = expr.node === 'Constant' ? expr.value : null
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw queryError(`${clause} must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`, expr)
}
