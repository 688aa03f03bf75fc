// What may follow an operand: .name, .1, [i], [a:b], ?.name, ::type.
import type { Expr } from '../ast.ts'
import { syntaxError } from '../errors.ts'
import {
  accept,
  at,
  expect,
  expectName,
  nested,
  next,
  notSupported,
  peek,
  raise,
  endOf,
  type Cursor,
} from './cursor.ts'
import { parseCastType } from './types.ts'

export function parsePostfix(cursor: Cursor, operand: Expr, start: number): Expr {
  let expr = operand
  for (;;) {
    switch (peek(cursor).kind) {
      case '.':
        next(cursor)
        expr = parseMember(cursor, expr, start)
        break
      case '?.':
        next(cursor)
        expr = {
          ...(at(cursor, '[') ? parseIndex(cursor, expr, start) : parseMember(cursor, expr, start)),
          nullish: true,
        }
        break
      case '[':
        expr = parseIndexOrSlice(cursor, expr, start)
        break
      case '::':
        next(cursor)
        expr = { node: 'TypeCast', expr, type_name: parseCastType(cursor), start, end: endOf(cursor) }
        break
      case '(':
        throw notSupported('Calling the result of an expression', peek(cursor))
      default:
        return expr
    }
    raise(cursor)
  }
}

function parseMember(cursor: Cursor, expr: Expr, start: number) {
  const token = peek(cursor)
  if (token.kind === 'digits') {
    next(cursor)
    const index = Number(token.value)
    if (!Number.isSafeInteger(index)) throw syntaxError('This tuple index is too large', token)
    return { node: 'TupleAccess' as const, tuple: expr, index, start, end: endOf(cursor) }
  }
  const value = expectName(cursor, 'the name of a property')
  const property: Expr = { node: 'Constant', value, start: token.start, end: token.end }
  return { node: 'ArrayAccess' as const, array: expr, property, start, end: endOf(cursor) }
}

function parseIndex(cursor: Cursor, array: Expr, start: number) {
  expect(cursor, '[')
  const property = nested(cursor, () => cursor.rules.expression(cursor, 0))
  expect(cursor, ']')
  return { node: 'ArrayAccess' as const, array, property, start, end: endOf(cursor) }
}

function parseIndexOrSlice(cursor: Cursor, array: Expr, start: number): Expr {
  expect(cursor, '[')
  const bound = () => nested(cursor, () => cursor.rules.expression(cursor, 0))
  const from = at(cursor, ':') ? undefined : bound()
  if (from && accept(cursor, ']'))
    return { node: 'ArrayAccess', array, property: from, start, end: endOf(cursor) }
  expect(cursor, ':')
  const to = at(cursor, ']') ? undefined : bound()
  expect(cursor, ']')
  return {
    node: 'ArraySlice',
    array,
    ...(from && { start_expr: from }),
    ...(to && { end_expr: to }),
    start,
    end: endOf(cursor),
  }
}
