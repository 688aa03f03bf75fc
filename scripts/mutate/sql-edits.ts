// SQL in templates, broken: conditions left out, bounds moved, locks not taken. It is read as words, not as a language.
import type { Edit } from './mutants.ts'

type Span = { start: number; end: number }
type Template = Span & { expressions: readonly Span[] }

/** Words that end a condition when they stand outside of its brackets. */
const ENDS =
  /^(AND|OR|THEN|ELSE|WHEN|END|AS|RETURNING|ORDER|GROUP|HAVING|LIMIT|OFFSET|FOR|UNION|WHERE|WINDOW|ON|SET|FROM|LEFT|CROSS|JOIN)$/i
const WORDS = /[A-Za-z_]\w*|[(),]/g
const BOUND = /(?<![<>=!@|&~#-])[<>]=?(?![<>=@])/g
const LOCK = /\bFOR (NO KEY )?(UPDATE|SHARE)( OF \w+)?( SKIP LOCKED| NOWAIT)?/g

export function sqlEdits(text: string, template: Template): Edit[] {
  const sql = masked(text, template)
  const at = template.start
  const replace = (start: number, end: number, replacement: string): Edit => ({
    start: at + start,
    end: at + end,
    replacement,
  })
  const bounds = [...sql.matchAll(BOUND)].map(({ 0: sign, index }) =>
    replace(index, index + sign.length, sign.length === 2 ? sign[0]! : `${sign}=`),
  )
  const locks = [...sql.matchAll(LOCK)].map(({ 0: lock, index }) => replace(index, index + lock.length, ''))
  const conditions = conditionsOf(sql).map(({ word, start, end }) =>
    word === 'WHERE' ? replace(start + word.length, end, ' true ') : replace(start, end, ''),
  )
  return [...bounds, ...locks, ...conditions]
}

/** What is put in, and what stands in quotes, is no SQL of the template; every other character keeps its place. */
function masked(text: string, { start, end, expressions }: Template): string {
  let sql = text.slice(start, end)
  for (const expression of expressions) {
    const from = text.lastIndexOf('${', expression.start) - start
    const to = text.indexOf('}', expression.end) + 1 - start
    sql = sql.slice(0, from) + '0'.repeat(to - from) + sql.slice(to)
  }
  return sql.replaceAll(/'[^']*'/g, (quoted) => '0'.repeat(quoted.length))
}

type Condition = Span & { word: 'WHERE' | 'AND' }

function conditionsOf(sql: string): Condition[] {
  const conditions: Condition[] = []
  let isBetween = false
  for (const { 0: word, index } of sql.matchAll(WORDS)) {
    if (word === 'BETWEEN') isBetween = true
    else if (word === 'AND' && isBetween) isBetween = false
    else if (word === 'AND' || word === 'WHERE')
      conditions.push({ word, start: index, end: endOf(sql, index + word.length) })
  }
  return conditions
}

function endOf(sql: string, from: number): number {
  let depth = 0
  let isBetween = false
  for (const { 0: word, index } of sql.slice(from).matchAll(WORDS)) {
    const isEnd =
      depth === 0 && (word === ')' || word === ',' || ENDS.test(word)) && !(isBetween && word === 'AND')
    if (isEnd) return from + index
    if (word === 'BETWEEN') isBetween = true
    else if (word === 'AND') isBetween = false
    else if (word === '(') depth++
    else if (word === ')') depth--
  }
  // Before the backtick.
  return sql.length - 1
}
