// Looking for texts in a text: places, tokens, several at once. Places count characters, from 1; 0 is nowhere.
import { arrayOf, BOOLEAN, define, INTEGER, type Named, once, TEXT } from './define.ts'

/** From the place in the third argument on. */
const position = (text: string, part: string, start?: string) => {
  if (start === undefined) return `strpos(${text}, ${part})`
  return once([text, part, `greatest(least(${start}, 4294967295), 1)`], (t, p, s) => {
    const found = `strpos(substring(${t}, ${s}), ${p})`
    return `case when ${s} > length(${t}) + 1 then 0 when ${found} = 0 then 0 else ${found} + ${s} - 1 end`
  })
}

const lowered =
  (find: typeof position): typeof position =>
  (text, part, start) =>
    find(`lower(${text})`, `lower(${part})`, start)

const places = (name: string, clickhouse: string, find: typeof position, aliases: string[]) =>
  define(name, ['text', 'text', 'integer?'], INTEGER, find, {
    aliases,
    clickhouse: (text, part, start) =>
      `${clickhouse}(${text}, ${part}${start === undefined ? '' : `, toUInt64(greatest(${start}, 0))`})`,
  })

/** Between letters and digits of ASCII on one side and something else on the other. */
const token = (name: string, flags: string) =>
  define(
    name,
    ['text', 'text'],
    BOOLEAN,
    (text, part) =>
      `regexp_matches(${text}, '(^|[^a-zA-Z0-9\\x{80}-\\x{10FFFF}])' || regexp_escape(${part})` +
      ` || '($|[^a-zA-Z0-9\\x{80}-\\x{10FFFF}])'${flags})`,
  )

type Found = (text: string, needle: string) => string
const contains: Found = (text, needle) => `contains(${text}, ${needle})`
const containsLowered: Found = (text, needle) => `contains(lower(${text}), lower(${needle}))`
const matches: Found = (text, needle) => `regexp_matches(${text}, ${needle}, 's')`

/** Needles may be a property, which is read as an array of texts. */
const searched = (name: string, type: Named['type'], body: (text: string, needles: string) => string) =>
  define(name, ['text', 'array'], type, (text, needles) => once([text, needles], body))

const NEEDLE = 'cast(needle as varchar)'
const any = (name: string, found: Found) =>
  searched(
    name,
    BOOLEAN,
    (text, needles) => `(len(list_filter(${needles}, lambda needle: ${found(text, NEEDLE)})) > 0)`,
  )
const firstIndex = (name: string, found: Found) =>
  searched(
    name,
    INTEGER,
    (text, needles) =>
      `coalesce(list_position(list_transform(${needles}, lambda needle: ${found(text, NEEDLE)}), true), 0)`,
  )

export const searchFunctions: readonly Named[] = [
  places('position', 'positionUTF8', position, ['positionUTF8']),
  places('positionCaseInsensitive', 'positionCaseInsensitiveUTF8', lowered(position), [
    'positionCaseInsensitiveUTF8',
  ]),
  define('locate', ['text', 'text'], INTEGER, (part, text) => position(text, part), {
    clickhouse: (part, text) => `positionUTF8(${text}, ${part})`,
  }),
  token('hasToken', ''),
  token('hasTokenCaseInsensitive', `, 'i'`),
  define('countMatches', ['text', 'text'], INTEGER, (text, pattern) =>
    once(
      [text, pattern],
      (t, p) => `len(list_filter(regexp_extract_all(${t}, ${p}), lambda found: found <> ''))`,
    ),
  ),
  define('countMatchesCaseInsensitive', ['text', 'text'], INTEGER, (text, pattern) =>
    once(
      [text, pattern],
      (t, p) => `len(list_filter(regexp_extract_all(${t}, ${p}, 0, 'i'), lambda found: found <> ''))`,
    ),
  ),
  define('countSubstringsCaseInsensitive', ['text', 'text'], INTEGER, (text, part) =>
    once(
      [`lower(${text})`, `lower(${part})`],
      (t, p) => `case when ${p} = '' then 0 else len(string_split(${t}, ${p})) - 1 end`,
    ),
  ),
  any('multiSearchAny', contains),
  any('multiSearchAnyCaseInsensitive', containsLowered),
  any('multiMatchAny', matches),
  firstIndex('multiSearchFirstIndex', contains),
  firstIndex('multiSearchFirstIndexCaseInsensitive', containsLowered),
  searched(
    'multiSearchAllPositions',
    arrayOf(INTEGER),
    (text, needles) => `list_transform(${needles}, lambda needle: strpos(${text}, ${NEEDLE}))`,
  ),
  define(
    'levenshteinDistance',
    ['text', 'text'],
    INTEGER,
    (left, right) => `levenshtein(${left}, ${right})`,
    {
      aliases: ['editDistance'],
    },
  ),
  define(
    'damerauLevenshteinDistance',
    ['text', 'text'],
    INTEGER,
    (left, right) => `damerau_levenshtein(${left}, ${right})`,
  ),
  define('regexpExtract', ['text', 'text', 'integer?'], TEXT, (text, pattern, group = '1') =>
    once([text, pattern], (t, p) => `regexp_extract(${t}, ${p}, cast(${group} as integer))`),
  ),
  define(
    'regexpQuoteMeta',
    ['text'],
    TEXT,
    (text) => `regexp_replace(${text}, '([\\\\()^$.\\[?*+{|])', '\\\\\\1', 'g')`,
  ),
]
