// Functions of text. Places and lengths count characters, except `length`, which counts bytes as ClickHouse does.
import {
  atMost,
  BOOLEAN,
  constantNumber,
  define,
  generated,
  INTEGER,
  MOST_ITEMS,
  nth,
  once,
  read,
  TEXT,
  arrayOf,
  call,
} from './define.ts'
import type { Named } from './define.ts'
import { areCertain } from './certainty.ts'
import { charactersOf, joinedItems, largestOf, replacedIn, sumOf } from '../size-estimate.ts'
import type { Printing, Value } from '../value.ts'

/** DuckDB takes no place or length beyond 32 bits. */
const placed = (sql: string) => `greatest(least(${sql}, 4294967295), -4294967295)`

/** Place 0 is before the text: nothing. A length below 0 leaves so many characters off at the end. */
const substring = (text: string, start: string, length?: string) =>
  length === undefined
    ? once(
        [text, start],
        (t, s) => `case when ${s} = 0 then '' when ${s} is not null then substring(${t}, ${placed(s)}) end`,
      )
    : once(
        [text, start, length],
        (t, s, l) =>
          `case when ${s} = 0 or ${l} = 0 then '' when ${l} > 0 and ${s} is not null` +
          ` then substring(${t}, ${placed(s)}, ${placed(l)}) when ${l} < 0 and ${s} is not null` +
          ` then substring(left(${t}, ${placed(l)}), ${placed(fromLeft(t, s))}) end`,
      )

/** A negative place counts from the end, also after something was cut off there. */
const fromLeft = (text: string, place: string) =>
  `case when ${place} < 0 then greatest(length(${text}) + ${place} + 1, 1) else ${place} end`

const pad = (name: string, duckdb: 'lpad' | 'rpad', aliases: string[]): Named => ({
  name,
  aliases,
  args: [2, 3],
  type: TEXT,
  estimate: (args) => generated(Math.max(0, constantNumber(args[1]))),
  duckdb: (args, printing) => {
    const length = atMost(nth(args, 1), read('integer', nth(args, 1), printing), MOST_ITEMS, name)
    const filler = args[2] ? `coalesce(nullif(${printing.text(args[2])}, ''), ' ')` : `' '`
    return `${duckdb}(${printing.text(nth(args, 0))}, cast(${length} as integer), ${filler})`
  },
  clickhouse: (args, printing) =>
    call(`${name}UTF8`, [
      printing.text(nth(args, 0)),
      read('integer', nth(args, 1), printing),
      ...args.slice(2).map((value) => printing.text(value)),
    ]),
})

/** Refused by the length of what would come out: texts of any length can be repeated. */
const repeat: Named = {
  name: 'repeat',
  args: [2, 2],
  type: TEXT,
  certain: areCertain,
  estimate: (args) => generated(charactersOf(args[0]) * Math.max(0, constantNumber(args[1]))),
  duckdb: (args, printing) =>
    once(
      [printing.text(nth(args, 0)), read('integer', nth(args, 1), printing)],
      (text, times) =>
        `case when cast(strlen(${text}) as double) * ${times} > ${MOST_ITEMS}` +
        ` then error('repeat makes at most ${MOST_ITEMS} bytes') else repeat(${text}, ${times}) end`,
    ),
}

const joined = (args: readonly Value[], printing: Printing) => {
  const areArrays = areAllArrays(args)
  return { areArrays, texts: args.map((value) => (areArrays ? value.sql : printing.text(value))) }
}

const areAllArrays = (args: readonly Value[]) =>
  args.length > 0 && args.every((value) => value.type.kind === 'array')

/** Each `||` makes a text of its own out of those before it: many of them would hold all those at a time. */
const MOST_CHAINED = 8

const chained = (texts: readonly string[]): string =>
  texts.length <= MOST_CHAINED
    ? `(${texts.join(' || ')})`
    : once(
        [`cast([${texts.join(', ')}] as varchar[])`],
        (parts) => `case when list_count(${parts}) = len(${parts}) then array_to_string(${parts}, '') end`,
      )

/** DuckDB's own `concat` takes NULL for nothing; here NULL makes the whole NULL. */
const concat: Named = {
  name: 'concat',
  args: [1, Infinity],
  type: (args) => (args[0] && areAllArrays(args) ? args[0].type : TEXT),
  certain: areCertain,
  estimate: (args) => (areAllArrays(args) ? joinedItems(args) : sumOf(args)),
  copies: ({ length }) => Math.max(1, Math.min(length, MOST_CHAINED) / 2),
  duckdb: (args, printing) => {
    const { areArrays, texts } = joined(args, printing)
    return areArrays ? call('list_concat', texts) : chained(texts)
  },
  clickhouse: (args, printing) => call('concat', joined(args, printing).texts),
}

const sized = (value: Value, printing: Printing): string => {
  switch (value.type.kind) {
    case 'array':
    case 'unknown':
      return `len(${value.sql})`
    default:
      return `strlen(${printing.text(value)})`
  }
}

/** In ClickHouse a Nullable(String) is measured as it is, anything else as text. */
const measured = (value: Value, printing: Printing) =>
  value.type.kind === 'array' || value.type.kind === 'unknown' ? value.sql : printing.text(value)

const measure = (name: string, type: Named['type'], test: string, aliases?: string[]): Named => ({
  name,
  aliases,
  args: [1, 1],
  type,
  certain: areCertain,
  duckdb: (args, printing) => {
    const size = sized(nth(args, 0), printing)
    return test === '' ? size : `(${size} ${test})`
  },
  clickhouse: (args, printing) => call(name, [measured(nth(args, 0), printing)]),
})

const like = (name: string, duckdb: string) =>
  define(name, ['text', 'text'], BOOLEAN, (text, pattern) => `(${text} ${duckdb} ${pattern} escape '\\')`)

const hash = (name: string, duckdb: string) =>
  define(name, ['text'], TEXT, (text) => `${duckdb}(${text})`, {
    clickhouse: (text) => `lower(hex(${name}(${text})))`,
  })

const plain = (name: string, duckdb: string, aliases?: string[], clickhouse = name) =>
  define(name, ['text'], TEXT, (text) => `${duckdb}(${text})`, { aliases, clickhouse })

/** Blanks, or the letters of the second argument. */
const trimmed = (name: string, duckdb: string, aliases: string[]) =>
  define(
    name,
    ['text', 'text?'],
    TEXT,
    (text, letters) => `${duckdb}(${text}${letters === undefined ? '' : `, ${letters}`})`,
    { aliases },
  )

const replaceFirst = (text: string, from: string, to: string) =>
  once(
    [text, from, to],
    (t, f, r) =>
      `case when ${f} = '' or strpos(${t}, ${f}) = 0 then ${t} else` +
      ` substring(${t}, 1, strpos(${t}, ${f}) - 1) || ${r} || substring(${t}, strpos(${t}, ${f}) + length(${f})) end`,
  )

/** Every place that is found can become longer by as much. */
const replacedAll: Named['estimate'] = ([text, from, to]) => {
  const sought = typeof from?.constant === 'string' ? Math.max(1, from.constant.length) : 1
  return replacedIn(text, charactersOf(to) / sought)
}

export const textFunctions: readonly Named[] = [
  plain('lower', 'lower', ['lowerUTF8', 'lcase'], 'lowerUTF8'),
  plain('upper', 'upper', ['upperUTF8', 'ucase'], 'upperUTF8'),
  trimmed('trimBoth', 'trim', ['trim', 'btrim']),
  trimmed('trimLeft', 'ltrim', ['ltrim']),
  trimmed('trimRight', 'rtrim', ['rtrim']),
  plain('reverseUTF8', 'reverse'),
  define('substring', ['text', 'integer', 'integer?'], TEXT, substring, {
    aliases: ['substr', 'mid', 'substringUTF8'],
    clickhouse: 'substringUTF8',
  }),
  define('left', ['text', 'integer'], TEXT, (text, n) => `left(${text}, ${placed(n)})`, {
    aliases: ['leftUTF8'],
    clickhouse: 'leftUTF8',
  }),
  define('right', ['text', 'integer'], TEXT, (text, n) => `right(${text}, ${placed(n)})`, {
    aliases: ['rightUTF8'],
    clickhouse: 'rightUTF8',
  }),
  define('startsWith', ['text', 'text'], BOOLEAN, (text, part) => `starts_with(${text}, ${part})`),
  define('endsWith', ['text', 'text'], BOOLEAN, (text, part) => `ends_with(${text}, ${part})`),
  define('countSubstrings', ['text', 'text'], INTEGER, (text, part) =>
    once([text, part], (t, p) => `case when ${p} = '' then 0 else len(string_split(${t}, ${p})) - 1 end`),
  ),
  pad('leftPad', 'lpad', ['lpad', 'leftPadUTF8']),
  pad('rightPad', 'rpad', ['rpad', 'rightPadUTF8']),
  repeat,
  concat,
  {
    name: 'reverse',
    args: [1, 1],
    estimate: largestOf,
    type: (args) => (args[0]?.type.kind === 'array' ? args[0].type : TEXT),
    certain: areCertain,
    duckdb: (args, printing) => {
      const value = nth(args, 0)
      return value.type.kind === 'array' ? `list_reverse(${value.sql})` : `reverse(${printing.text(value)})`
    },
    clickhouse: (args, printing) => {
      const value = nth(args, 0)
      return value.type.kind === 'array' ? `reverse(${value.sql})` : `reverseUTF8(${printing.text(value)})`
    },
  },
  measure('length', INTEGER, ''),
  measure('empty', BOOLEAN, '= 0'),
  measure('notEmpty', BOOLEAN, '> 0'),
  define('lengthUTF8', ['text'], INTEGER, (text) => `length(${text})`, {
    aliases: ['char_length', 'character_length'],
  }),
  define('replaceAll', ['text', 'text', 'text'], TEXT, (t, from, to) => `replace(${t}, ${from}, ${to})`, {
    aliases: ['replace'],
    estimate: replacedAll,
  }),
  define('replaceOne', ['text', 'text', 'text'], TEXT, replaceFirst),
  define('splitByChar', ['text', 'text'], arrayOf(TEXT), (by, text) => `string_split(${text}, ${by})`),
  define('splitByString', ['text', 'text'], arrayOf(TEXT), (by, text) => `string_split(${text}, ${by})`),
  like('like', 'like'),
  like('ilike', 'ilike'),
  like('notLike', 'not like'),
  like('notILike', 'not ilike'),
  define('base64Encode', ['text'], TEXT, (text) => `base64(encode(${text}))`),
  define('base64Decode', ['text'], TEXT, (text) => once([text], (it) => `try(decode(from_base64(${it})))`), {
    aliases: ['tryBase64Decode'],
    clickhouse: (text) => `nullIf(tryBase64Decode(${text}), '')`,
  }),
  hash('MD5', 'md5'),
  hash('SHA1', 'sha1'),
  hash('SHA256', 'sha256'),
]
