// Texts made of other values: formats, numbers for people, hexadecimal digits, tokens.
import { queryError } from '../errors.ts'
import { sumOf } from '../size-estimate.ts'
import type { Type, Value } from '../value.ts'
import { areCertain, isCertain } from './certainty.ts'
import { arrayOf, both, call, constantText, define, INTEGER, type Named, nth, once, TEXT } from './define.ts'

type Piece = { text: string } | { argument: number }

/** `{}` and `{1}` are arguments, `{{` and `}}` are braces. */
const piecesOf = (pattern: string): Piece[] => {
  const pieces: Piece[] = []
  let next = 0
  for (const [written, number] of pattern.matchAll(/\{\{|\}\}|\{(\d*)\}|[^{}]+|[{}]/g)) {
    if (number !== undefined) pieces.push({ argument: number === '' ? next++ : Number(number) })
    else if (written === '{' || written === '}')
      throw queryError('A brace stands alone in the pattern of format.')
    else pieces.push({ text: written === '{{' || written === '}}' ? written.slice(1) : written })
  }
  return pieces
}

const format: Named = {
  name: 'format',
  args: [1, Infinity],
  type: TEXT,
  certain: areCertain,
  estimate: ([pattern, ...args]) => {
    const uses = piecesOf(constantText(pattern, 'The pattern of format'))
    return sumOf(uses.flatMap((piece) => ('argument' in piece ? (args[piece.argument] ?? []) : [])))
  },
  ...both(([pattern, ...args], printing) => {
    const texts = piecesOf(constantText(pattern, 'The pattern of format')).map((piece) => {
      if ('text' in piece) return printing.bind(piece.text)
      const value = args[piece.argument]
      if (!value)
        throw queryError(`The pattern of format asks for argument ${piece.argument}, which is not there.`)
      return printing.text(value)
    })
    if (texts.length === 0) return `''`
    return printing.engine === 'clickhouse' ? call('concat', [...texts, `''`]) : `(${texts.join(' || ')})`
  }),
}

/** Numbers in their shortest form with 1, 1,000 or 1,024 and so on as one. */
const readable = (name: string, base: number, units: readonly string[]): Named =>
  define(name, ['number'], TEXT, (number) =>
    once([`cast(${number} as double)`], (x) => {
      const scaled = (power: number) => `printf('%.2f${units[power]}', ${x} / ${base ** power})`
      const cases = units.slice(1).map((_, index) => {
        const power = units.length - 1 - index
        // What would be shown as one of the larger unit is shown so.
        return `when abs(${x}) >= ${base ** power} then ${scaled(power)}`
      })
      return `case ${cases.join(' ')} when ${x} is not null then ${scaled(0)} end`
    }),
  )

const BYTES = [' B', ' KiB', ' MiB', ' GiB', ' TiB', ' PiB']
const DECIMAL_BYTES = [' B', ' KB', ' MB', ' GB', ' TB', ' PB']
const QUANTITIES = ['', ' thousand', ' million', ' billion', ' trillion', ' quadrillion']

const HASH = /^(md5|sha1|sha256)\(|^lower\(hex\(/

/** Numbers have two digits for each byte. Hashes are hexadecimal here already. */
const hex: Named = {
  name: 'hex',
  args: [1, 1],
  type: TEXT,
  certain: areCertain,
  estimate: ([value]) => 2 * sumOf(value ? [value] : []),
  duckdb: (args, printing) => {
    const value = nth(args, 0)
    if (HASH.test(value.sql)) return `upper(${value.sql})`
    if (value.type.kind !== 'integer') return `hex(encode(${printing.text(value)}))`
    return once(
      [`to_base(${value.sql}, 16)`],
      (digits) => `case when length(${digits}) % 2 = 1 then '0' || ${digits} else ${digits} end`,
    )
  },
  clickhouse: (args, printing) => {
    const value = nth(args, 0)
    if (HASH.test(value.sql)) return `upper(${value.sql})`
    return call('hex', [value.type.kind === 'integer' ? value.sql : printing.text(value)])
  },
}

const TYPE_NAMES: Readonly<Partial<Record<Type['kind'], string>>> = {
  integer: 'Int64',
  float: 'Float64',
  text: 'String',
  property: 'String',
  json: 'String',
  boolean: 'Bool',
  date: 'Date',
  uuid: 'UUID',
  null: 'Nothing',
}

const typeNameOf = (type: Type, timezone: string): string => {
  if (type.kind === 'array') return `Array(${typeNameOf(type.item, timezone)})`
  if (type.kind === 'tuple')
    return `Tuple(${type.items.map((item) => typeNameOf(item, timezone)).join(', ')})`
  const name = type.kind === 'datetime' ? `DateTime64(6, '${timezone}')` : TYPE_NAMES[type.kind]
  if (!name) throw queryError('The type of this value has no name.')
  return isCertain(type) ? name : `Nullable(${name})`
}

/** The same on every engine: the type that the compiler knows. */
const toTypeName: Named = {
  name: 'toTypeName',
  args: [1, 1],
  type: TEXT,
  certain: () => true,
  ...both((args, printing) => printing.bind(typeNameOf(nth(args, 0).type, printing.timezone))),
}

const joined: Named = {
  name: 'concatWithSeparator',
  args: [2, Infinity],
  type: TEXT,
  certain: areCertain,
  estimate: ([between, ...texts]) =>
    sumOf(texts.flatMap((text): Value[] => (between ? [text, between] : [text]))),
  duckdb: ([between, ...texts], printing) =>
    once(
      [printing.text(between ?? nth(texts, 0)), ...texts.map((text) => printing.text(text))],
      (separator, ...parts) => `(${parts.join(` || ${separator} || `)})`,
    ),
  clickhouse: (args, printing) =>
    call(
      'concatWithSeparator',
      args.map((value) => printing.text(value)),
    ),
}

const tokens = (name: string, pattern: string) =>
  define(name, ['text'], arrayOf(TEXT), (text) => `regexp_extract_all(${text}, '${pattern}')`)

export const writingFunctions: readonly Named[] = [
  format,
  joined,
  hex,
  toTypeName,
  readable('formatReadableSize', 1024, BYTES),
  readable('formatReadableDecimalSize', 1000, DECIMAL_BYTES),
  readable('formatReadableQuantity', 1000, QUANTITIES),
  define('ascii', ['text'], INTEGER, (text) =>
    once([text], (it) => `case when ${it} = '' then 0 else ascii(${it}) end`),
  ),
  tokens('splitByWhitespace', '[^\\s]+'),
  tokens('splitByNonAlpha', '[a-zA-Z0-9\\x{80}-\\x{10FFFF}]+'),
  tokens('tokens', '[a-zA-Z0-9\\x{80}-\\x{10FFFF}]+'),
  tokens('alphaTokens', '[a-zA-Z]+'),
  define('substringIndex', ['text', 'text', 'integer'], TEXT, (text, by, count) =>
    once(
      [`string_split(${text}, ${by})`, by, count],
      (parts, separator, n) =>
        `case when ${separator} = '' or ${n} = 0 then ''` +
        ` when ${n} > 0 then list_reduce(${parts}[1:${n}], lambda x, y: x || ${separator} || y)` +
        ` else list_reduce(${parts}[${n}:], lambda x, y: x || ${separator} || y) end`,
    ),
  ),
  define(
    'split_part',
    ['text', 'text', 'integer'],
    TEXT,
    (text, by, place) =>
      once(
        [`string_split(${text}, ${by})`, place],
        (parts, n) => `case when ${n} is not null then coalesce(${parts}[${n}], '') end`,
      ),
    { clickhouse: (text, by, place) => `splitByString(${by}, assumeNotNull(${text}))[${place}]` },
  ),
  define(
    'translate',
    ['text', 'text', 'text'],
    TEXT,
    (text, from, to) => `translate(${text}, ${from}, ${to})`,
    {
      aliases: ['translateUTF8'],
      clickhouse: 'translateUTF8',
    },
  ),
  define('appendTrailingCharIfAbsent', ['text', 'text'], TEXT, (text, letter) =>
    once(
      [text, letter],
      (t, l) => `case when ${t} = '' or ends_with(${t}, ${l}) then ${t} else ${t} || ${l} end`,
    ),
  ),
]
