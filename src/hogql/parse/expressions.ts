// Expressions by precedence: an operand, then every operator strong enough for this place. Read operators.ts first.
import type { Expr } from '../ast.ts'
import {
  accept,
  acceptWord,
  at,
  atWord,
  deeper,
  descend,
  expect,
  expectAlias,
  expectWord,
  expected,
  nested,
  next,
  notSupported,
  peek,
  peekAfter,
  raise,
  endOf,
  type Cursor,
} from './cursor.ts'
import { isCohortOperator, isNotOperator, isSignedNumber } from './lookahead.ts'
import { parseOperand } from './operands.ts'
import { IS_DISTINCT, LEVEL, negatedOperatorOf, operatorOf, type Operator } from './operators.ts'
import { parsePostfix } from './postfix.ts'

export function parseExpression(cursor: Cursor, floor: number): Expr {
  const outerHeight = cursor.height
  cursor.height = 0
  const start = peek(cursor).start
  let left = parsePrefix(cursor, start)
  // An alias ends what stronger operators could take: `a as b + c` is no sum, `a as b and c` is a condition.
  let ceiling: number = Infinity
  for (;;) {
    const operator = operatorAt(cursor)
    if (!operator || operator.level < floor || operator.level > ceiling) break
    descend(cursor)
    left = parseOperation(cursor, left, operator, start)
    cursor.depth--
    raise(cursor)
    if (operator.form === 'alias') ceiling = LEVEL.and
  }
  if (outerHeight > cursor.height) cursor.height = outerHeight
  return left
}

function operatorAt(cursor: Cursor): Operator | undefined {
  const token = peek(cursor)
  if (token.word === 'not') return negatedOperatorOf(peekAfter(cursor))
  const operator = operatorOf(token)
  if (operator?.form !== 'is_null') return operator
  const isDistinct = peekAfter(cursor, peekAfter(cursor).word === 'not' ? 2 : 1).word === 'distinct'
  return isDistinct ? IS_DISTINCT : operator
}

function parseOperation(cursor: Cursor, left: Expr, operator: Operator, start: number): Expr {
  const negated = acceptWord(cursor, 'not')
  const token = next(cursor)
  switch (operator.form) {
    case 'chain':
      return parseChain(cursor, left, operator, start)
    case 'compare':
      return parseComparison(cursor, left, operator, start)
    case 'arithmetic': {
      const right = parseExpression(cursor, operator.level + 1)
      return { node: 'ArithmeticOperation', op: operator.op, left, right, start, end: endOf(cursor) }
    }
    case 'concat':
      return parseConcat(cursor, left, start)
    case 'nullish': {
      const right = parseExpression(cursor, operator.level + 1)
      return { node: 'Call', name: 'ifNull', args: [left, right], start, end: endOf(cursor) }
    }
    case 'is_null':
      return parseIsNull(cursor, left, start)
    case 'is_distinct':
      return parseIsDistinct(cursor, left, start)
    case 'between':
      return parseBetween(cursor, left, negated, start)
    case 'ternary':
      return parseTernary(cursor, left, start)
    case 'alias':
      return parseAlias(cursor, left, start)
    case 'ignore_nulls':
      throw notSupported('IGNORE NULLS', token)
    default:
      return operator satisfies never
  }
}

/** `a and b and c` becomes one node, however long, and takes in what brackets set apart: `(a and b) and c`. */
function parseChain(
  cursor: Cursor,
  left: Expr,
  operator: Extract<Operator, { form: 'chain' }>,
  start: number,
): Expr {
  const { node, level } = operator
  const word = peekBefore(cursor).word
  const exprs = left.node === node ? [...left.exprs] : [left]
  do {
    const right = parseExpression(cursor, level + 1)
    if (right.node === node) for (const expr of right.exprs) exprs.push(expr)
    else exprs.push(right)
  } while (acceptWord(cursor, word))
  return { node, exprs, start, end: endOf(cursor) }
}

const peekBefore = (cursor: Cursor) => cursor.tokens[cursor.at - 1]!

function parseComparison(
  cursor: Cursor,
  left: Expr,
  operator: Extract<Operator, { form: 'compare' }>,
  start: number,
): Expr {
  let { op } = operator
  if ((op === 'in' || op === 'not in') && isCohortOperator(cursor)) {
    next(cursor)
    op = `${op} cohort`
  }
  const right = parseExpression(cursor, operator.level + 1)
  return { node: 'CompareOperation', op, left, right, start, end: endOf(cursor) }
}

/** `a || b || c` becomes one call, like the chains above. */
function parseConcat(cursor: Cursor, left: Expr, start: number): Expr {
  const args = [...concatenated(left)]
  do for (const arg of concatenated(parseExpression(cursor, LEVEL.add + 1))) args.push(arg)
  while (accept(cursor, '||'))
  return { node: 'Call', name: 'concat', args, start, end: endOf(cursor) }
}

const concatenated = (expr: Expr): readonly Expr[] =>
  expr.node === 'Call' && expr.name === 'concat' ? expr.args : [expr]

function parseIsDistinct(cursor: Cursor, left: Expr, start: number): Expr {
  const isNot = acceptWord(cursor, 'not')
  expectWord(cursor, 'distinct')
  expectWord(cursor, 'from')
  const right = parseExpression(cursor, LEVEL.distinct + 1)
  const negated = isNot ? { negated: true as const } : {}
  return { node: 'IsDistinctFrom', left, right, ...negated, start, end: endOf(cursor) }
}

function parseIsNull(cursor: Cursor, left: Expr, start: number): Expr {
  const isNot = acceptWord(cursor, 'not')
  if (!atWord(cursor, 'null')) throw expected(cursor, 'NULL or DISTINCT FROM')
  const token = next(cursor)
  const comparison: Expr = {
    node: 'CompareOperation',
    op: isNot ? '!=' : '==',
    left,
    right: { node: 'Constant', value: null, start: token.start, end: token.end },
    is_null_comparison_style: true,
    start,
    end: endOf(cursor),
  }
  // Nothing is left between NULL and an access, so the access is to the whole: `a is null::int`.
  return parsePostfix(cursor, comparison, start)
}

function parseBetween(cursor: Cursor, expr: Expr, isNegated: boolean, start: number): Expr {
  const low = deeper(cursor, () => parseExpression(cursor, LEVEL.between))
  expectWord(cursor, 'and')
  const high = parseExpression(cursor, LEVEL.between + 1)
  const negated = isNegated ? { negated: true as const } : {}
  return { node: 'BetweenExpr', expr, low, high, ...negated, start, end: endOf(cursor) }
}

function parseTernary(cursor: Cursor, condition: Expr, start: number): Expr {
  const yes = nested(cursor, () => parseExpression(cursor, 0))
  expect(cursor, ':')
  const no = deeper(cursor, () => parseExpression(cursor, LEVEL.ternary))
  return { node: 'Call', name: 'if', args: [condition, yes, no], start, end: endOf(cursor) }
}

function parseAlias(cursor: Cursor, expr: Expr, start: number): Expr {
  const alias = at(cursor, 'string') ? next(cursor).value : expectAlias(cursor)
  return { node: 'Alias', alias, expr, start, end: endOf(cursor) }
}

/** An operand with the NOT or minus before it and the accesses after it. */
function parsePrefix(cursor: Cursor, start: number): Expr {
  if (at(cursor, '-') && !isSignedNumber(cursor)) {
    next(cursor)
    const right = deeper(cursor, () => parseExpression(cursor, LEVEL.negate))
    return { node: 'ArithmeticOperation', op: '-', left: zeroAt(start), right, start, end: endOf(cursor) }
  }
  if (atWord(cursor, 'not') && isNotOperator(cursor)) {
    next(cursor)
    const expr = deeper(cursor, () => parseExpression(cursor, LEVEL.not))
    return { node: 'Not', expr, start, end: endOf(cursor) }
  }
  return parsePostfix(cursor, parseOperand(cursor), start)
}

const zeroAt = (start: number): Expr => ({ node: 'Constant', value: 0, start, end: start })
