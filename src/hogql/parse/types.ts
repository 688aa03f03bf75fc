// Names of types: after `::` a plain one, in cast(… as …) with parameters. They come out in lower case.
import {
  accept,
  acceptWords,
  at,
  expect,
  expectWord,
  expected,
  isName,
  nested,
  next,
  peek,
  peekAfter,
  type Cursor,
} from './cursor.ts'
import { CAST_TYPE_WORDS, INTERVAL_UNITS } from './words.ts'

/** After `::`. Brackets after it are not the type's, so it has no parameters. */
export function parseCastType(cursor: Cursor): string {
  const token = peek(cursor)
  const isType =
    token.kind === 'quoted' ||
    (token.kind === 'name' &&
      (token.word === '' || CAST_TYPE_WORDS.has(token.word) || INTERVAL_UNITS.has(token.word)))
  if (!isType) throw expected(cursor, 'the name of a type')
  const name = next(cursor).value.toLowerCase()
  if (acceptWords(cursor, 'with', 'time')) {
    expectWord(cursor, 'zone')
    return `${name} with time zone`
  }
  if (!acceptWords(cursor, 'with', 'local')) return name
  expectWord(cursor, 'time')
  expectWord(cursor, 'zone')
  return `${name} with local time zone`
}

/** In cast(… as …): `Array(Tuple(a Int, b String))`, `decimal(10, 2)`, `timestamp with time zone`, `int[]`. */
export function parseType(cursor: Cursor): string {
  let type = parseWord(cursor)
  if (accept(cursor, '(')) type += `(${nested(cursor, parseParameters).join(', ')})`
  else while (isName(peek(cursor))) type += ` ${parseWord(cursor)}`
  while (accept(cursor, '[')) {
    const length = at(cursor, 'digits') ? next(cursor).value : ''
    expect(cursor, ']')
    type += `[${length}]`
  }
  return type
}

function parseWord(cursor: Cursor): string {
  if (!isName(peek(cursor))) throw expected(cursor, 'the name of a type')
  return next(cursor).value.toLowerCase()
}

function parseParameters(cursor: Cursor): string[] {
  const parameters: string[] = []
  while (!at(cursor, ')')) {
    parameters.push(parseParameter(cursor))
    if (!accept(cursor, ',')) break
  }
  expect(cursor, ')')
  return parameters
}

function parseParameter(cursor: Cursor): string {
  const token = peek(cursor)
  if (token.kind === 'digits') return next(cursor).value
  if (token.kind === 'string')
    return `'${next(cursor).value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const isNamed = isName(token) && isName(peekAfter(cursor))
  return isNamed ? `${next(cursor).value.toLowerCase()} ${parseType(cursor)}` : parseType(cursor)
}
