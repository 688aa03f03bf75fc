// Functions that are another way to write an operator: `in(a, b)`, `plus(a, b)`, `tuple(a, b)`.
import type { Call, Expr } from '../ast.ts'

const MEMBERSHIP = new Map<string, 'in' | 'not in'>([
  ['in', 'in'],
  ['notin', 'not in'],
  ['globalin', 'in'],
  ['globalnotin', 'not in'],
])

const ARITHMETIC = new Map<string, '+' | '-'>([
  ['plus', '+'],
  ['minus', '-'],
])

/** The expression that the call stands for; null when it is an ordinary one. */
export function operatorOf(call: Call): Expr | null {
  const name = call.name.toLowerCase()
  const [left, right, ...others] = call.args
  // Comparisons see the parts of a tuple.
  if (name === 'tuple' && left) return { ...call, node: 'Tuple', exprs: call.args }
  if (!left || !right || others.length > 0) return null
  const membership = MEMBERSHIP.get(name)
  if (membership) return { ...call, node: 'CompareOperation', op: membership, left, right }
  const arithmetic = ARITHMETIC.get(name)
  return arithmetic ? { ...call, node: 'ArithmeticOperation', op: arithmetic, left, right } : null
}
