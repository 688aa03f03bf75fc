// Constants: numbers with their sign, strings, NULL, and f'…' strings.
import type { Constant, Expr } from '../ast.ts'
import { accept, at, expect, expected, nested, next, peek, endOf, type Cursor } from './cursor.ts'

/** A number with its sign, if any. `1.5` is three tokens, so that `t.1.5` can be an access to an access. */
export function parseNumber(cursor: Cursor): Constant {
  const { start } = peek(cursor)
  const sign = accept(cursor, '-') ? '-' : ''
  if (!sign) accept(cursor, '+')
  return { node: 'Constant', ...numberOf(sign, parseUnsigned(cursor)), start, end: endOf(cursor) }
}

function parseUnsigned(cursor: Cursor): string {
  const token = next(cursor)
  if (token.kind === '.') return `.${next(cursor).value}`
  if (token.kind === 'name') return token.word === 'nan' ? 'NaN' : 'Infinity'
  if (token.kind === 'digits' && isFraction(cursor)) {
    next(cursor)
    return `${token.value}.${isDigits(cursor) ? next(cursor).value : '0'}`
  }
  return token.value
}

/** After digits: `.5`, or a dot that no property follows. */
function isFraction(cursor: Cursor): boolean {
  if (!at(cursor, '.')) return false
  const after = cursor.tokens[cursor.at + 1]!
  const isProperty = after.kind === 'quoted' || (after.kind === 'name' && after.word === '')
  return !isProperty
}

const isDigits = (cursor: Cursor) => at(cursor, 'digits') || at(cursor, 'octal')

function numberOf(sign: string, text: string): Pick<Constant, 'value' | 'value_type'> {
  const size = sizeOf(text)
  const value = sign && size !== 0 ? -size : size
  if (!Number.isFinite(value)) return { value: String(value), value_type: 'number' }
  const isRounded = Math.abs(value) > Number.MAX_SAFE_INTEGER && /^(\d+|0x[\da-f]+|0b[01]+)$/i.test(text)
  return isRounded ? { value: `${sign}${BigInt(text)}`, value_type: 'number' } : { value }
}

function sizeOf(text: string): number {
  return /^0x.*[.p]/i.test(text) ? hexadecimalFloat(text) : Number(text)
}

function hexadecimalFloat(text: string): number {
  const [, whole = '', fraction = '', power = ''] = /^0x([0-9a-f]*)\.?([0-9a-f]*)p(.*)$/i.exec(text) ?? []
  return Number(`0x${whole}${fraction}`) * 2 ** (Number(power) - 4 * fraction.length)
}

/** `f'a {b} c'`: its parts joined by concat; a single part stands for itself. */
export function parseTemplate(cursor: Cursor): Expr {
  const { start } = expect(cursor, "f'")
  const parts: Expr[] = []
  while (!accept(cursor, "'")) {
    if (at(cursor, 'text')) parts.push(parseText(cursor))
    else if (accept(cursor, '{')) {
      parts.push(nested(cursor, () => cursor.rules.expression(cursor, 0)))
      expect(cursor, '}')
    } else throw expected(cursor, 'the end of the f-string')
  }
  if (parts.length > 1) return { node: 'Call', name: 'concat', args: parts, start, end: endOf(cursor) }
  return parts[0] ?? { node: 'Constant', value: '', start, end: endOf(cursor) }
}

export function parseText(cursor: Cursor): Constant {
  const { value, start, end } = next(cursor)
  return { node: 'Constant', value, start, end }
}
