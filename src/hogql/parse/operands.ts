// Operands: what an operator can stand beside. Decides by the first token which rule applies.
import type { Expr } from '../ast.ts'
import {
  accept,
  at,
  atWord,
  expect,
  expected,
  isName,
  nested,
  next,
  notSupported,
  peek,
  peekAfter,
  endOf,
  type Cursor,
} from './cursor.ts'
import { parseCall } from './calls.ts'
import {
  parseArrowLambda,
  parseBracketedLambda,
  parseCase,
  parseInterval,
  parseWordLambda,
} from './constructs.ts'
import { parseListUntil } from './lists.ts'
import { parseNumber, parseTemplate, parseText } from './literals.ts'
import {
  isSignedNumber,
  startsBracketedLambda,
  startsCase,
  startsInterval,
  startsWordLambda,
} from './lookahead.ts'
import { parseExpressionOrQuery } from './subqueries.ts'

export function parseOperand(cursor: Cursor): Expr {
  const token = peek(cursor)
  switch (token.kind) {
    case 'name':
    case 'quoted':
      return parseWordOperand(cursor)
    case 'string':
      return parseText(cursor)
    case "f'":
      return parseTemplate(cursor)
    case '(':
      return startsBracketedLambda(cursor) ? parseBracketedLambda(cursor) : parseBracketed(cursor)
    case '[':
      return parseArray(cursor, token.start)
    case '{':
      return parsePlaceholderOrDict(cursor)
    case '*':
      return parseAsterisk(cursor)
    case '#':
      throw notSupported('A column by its position (#1)', token)
    case '<':
      throw notSupported('A HogQLX tag', token)
    default:
      if (isSignedNumber(cursor)) return parseNumber(cursor)
      throw expected(cursor, 'an expression')
  }
}

/** A keyword opens its construct only where that is what follows; otherwise it is a name like any other. */
function parseWordOperand(cursor: Cursor): Expr {
  const token = peek(cursor)
  if (token.jump >= 0 && isName(token)) return parseArrowLambda(cursor)
  switch (token.word) {
    case '':
      break
    case 'null':
      next(cursor)
      return { node: 'Constant', value: null, start: token.start, end: token.end }
    case 'inf':
    case 'infinity':
    case 'nan':
      return parseNumber(cursor)
    case 'case':
      if (startsCase(cursor)) return parseCase(cursor)
      break
    case 'interval':
      if (startsInterval(cursor)) return parseInterval(cursor)
      break
    case 'lambda':
      if (startsWordLambda(cursor)) return parseWordLambda(cursor)
      break
    case 'array':
      if (peekAfter(cursor).kind === '[') {
        next(cursor)
        return parseArray(cursor, token.start)
      }
      break
    case 'date':
    case 'timestamp':
      if (peekAfter(cursor).kind === 'string')
        throw notSupported(`${token.word} '…'`, { start: token.start, end: peekAfter(cursor).end })
      break
    case 'columns':
      if (peekAfter(cursor).kind === '(') throw notSupported('COLUMNS(…)', token)
  }
  if (!isName(token)) throw expected(cursor, 'an expression')
  switch (peekAfter(cursor).kind) {
    case '(':
      return parseCall(cursor)
    case ':=':
      throw notSupported('A named argument (:=)', peekAfter(cursor))
    default:
      return parseField(cursor)
  }
}

/** `a.b.c`, `a.*`; further accesses (`a.1`, `a[1]`) follow in postfix.ts. TRUE and FALSE look like fields. */
function parseField(cursor: Cursor): Expr {
  const { start, end, kind, value } = next(cursor)
  const chain = [value]
  while (at(cursor, '.') && (isName(peekAfter(cursor)) || peekAfter(cursor).kind === '*')) {
    next(cursor)
    const part = next(cursor)
    chain.push(part.kind === '*' ? '*' : part.value)
    if (part.kind === '*') {
      refuseColumnLists(cursor)
      break
    }
  }
  if (chain.length === 1 && kind === 'name' && (value.length === 4 || value.length === 5)) {
    const lower = value.toLowerCase()
    if (lower === 'true' || lower === 'false')
      return { node: 'Constant', value: lower === 'true', start, end }
  }
  return { node: 'Field', chain, start, end: endOf(cursor) }
}

function parseAsterisk(cursor: Cursor): Expr {
  const { start, end } = expect(cursor, '*')
  refuseColumnLists(cursor)
  return { node: 'Field', chain: ['*'], start, end }
}

/** After an asterisk. */
function refuseColumnLists(cursor: Cursor) {
  for (const word of ['exclude', 'replace', 'columns'])
    if (atWord(cursor, word) && peekAfter(cursor).kind === '(')
      throw notSupported(`* ${word.toUpperCase()} (…)`, peek(cursor))
}

/** `(a)`, `(a, b)` and `(select …)`. */
function parseBracketed(cursor: Cursor): Expr {
  const { start } = expect(cursor, '(')
  return nested(cursor, () => {
    const first = parseExpressionOrQuery(cursor, start, { order_by: true })
    if (accept(cursor, ')')) return first
    expect(cursor, ',')
    const rest = parseListUntil(cursor, ')')
    expect(cursor, ')')
    return { node: 'Tuple', exprs: [first, ...rest], start, end: endOf(cursor) }
  })
}

function parseArray(cursor: Cursor, start: number): Expr {
  expect(cursor, '[')
  const exprs = nested(cursor, () => parseListUntil(cursor, ']'))
  expect(cursor, ']')
  return { node: 'Array', exprs, start, end: endOf(cursor) }
}

/** `{name}` stands for something given with the query, `{a: 1}` is a dictionary. */
function parsePlaceholderOrDict(cursor: Cursor): Expr {
  const { start } = expect(cursor, '{')
  return nested(cursor, () => {
    const items: [Expr, Expr][] = []
    while (!at(cursor, '}')) {
      refuseStatements(cursor)
      const key = cursor.rules.expression(cursor, 0)
      if (items.length === 0 && accept(cursor, '}'))
        return { node: 'Placeholder', expr: key, start, end: endOf(cursor) }
      expect(cursor, ':')
      items.push([key, cursor.rules.expression(cursor, 0)])
      if (!accept(cursor, ',')) break
    }
    expect(cursor, '}')
    return { node: 'Dict', items, start, end: endOf(cursor) }
  })
}

/** A lambda's body in braces may hold statements: `x -> { return x }`. */
function refuseStatements(cursor: Cursor) {
  const isStatement = atWord(cursor, 'let') || (atWord(cursor, 'return') && peekAfter(cursor).kind !== '}')
  if (isStatement) throw notSupported('A block of statements', peek(cursor))
}
