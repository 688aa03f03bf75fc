// Functions of regular expressions. Both engines use RE2; as in ClickHouse, `.` matches line breaks in match and extract.
import { charactersOf, replacedIn } from '../size-estimate.ts'
import type { Type } from '../value.ts'
import { arrayOf, BOOLEAN, call, define, type Named, nth, once, TEXT } from './define.ts'

/** Whether a pattern has a group that captures: `extract` then gives the group instead of the whole. */
const hasGroup = (pattern: string): boolean => {
  let isInClass = false
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at]
    if (letter === '\\') {
      if (pattern.startsWith('\\Q', at)) at = (pattern + '\\E').indexOf('\\E', at)
      at++
    } else if (isInClass) isInClass = letter !== ']'
    else if (letter === '[') {
      isInClass = true
      // A bracket that comes first stands for itself.
      if (/^\^?\]/.test(pattern.slice(at + 1, at + 3))) at += pattern[at + 1] === '^' ? 2 : 1
    } else if (letter === '(' && !/^\?(?!P?<)/.test(pattern.slice(at + 1, at + 4))) return true
  }
  return false
}

/** The same of a pattern that is only known row by row; classes are not looked into. */
const GROUP = String.raw`(^|[^\\])(\\\\)*\(([^?]|\?P?<)`

const extraction = (name: string, duckdb: 'regexp_extract' | 'regexp_extract_all', type: Type): Named => {
  const group = (text: string, pattern: string, index: 0 | 1) =>
    `${duckdb}(${text}, ${pattern}, ${index}, 's')`
  return {
    name,
    args: [2, 2],
    type,
    duckdb: (args, printing) => {
      const [text, pattern] = [printing.text(nth(args, 0)), printing.text(nth(args, 1))]
      const { constant } = nth(args, 1)
      if (typeof constant === 'string') return group(text, pattern, hasGroup(constant) ? 1 : 0)
      return once(
        [text, pattern],
        (t, p) =>
          `case when regexp_matches(${p}, '${GROUP}') then ${group(t, p, 1)} else ${group(t, p, 0)} end`,
      )
    },
    clickhouse: (args, printing) =>
      call(
        name,
        args.map((value) => printing.text(value)),
      ),
  }
}

/** What is put in can hold what was found several times, so that one place is enough to make it grow. */
const replaced: Named['estimate'] = ([text, , to]) => replacedIn(text, charactersOf(to))

export const patternFunctions: readonly Named[] = [
  define('match', ['text', 'text'], BOOLEAN, (text, pattern) => `regexp_matches(${text}, ${pattern}, 's')`),
  extraction('extract', 'regexp_extract', TEXT),
  extraction('extractAll', 'regexp_extract_all', arrayOf(TEXT)),
  define(
    'replaceRegexpAll',
    ['text', 'text', 'text'],
    TEXT,
    (text, pattern, to) => `regexp_replace(${text}, ${pattern}, ${to}, 'g')`,
    { aliases: ['REGEXP_REPLACE'], estimate: replaced },
  ),
  define(
    'replaceRegexpOne',
    ['text', 'text', 'text'],
    TEXT,
    (text, pattern, to) => `regexp_replace(${text}, ${pattern}, ${to})`,
    { estimate: replaced },
  ),
  define(
    'splitByRegexp',
    ['text', 'text'],
    arrayOf(TEXT),
    (pattern, text) => `string_split_regex(${text}, ${pattern})`,
  ),
]
