// What may stand where somebody types in a HogQL text, told from the text before the cursor.

export type Place =
  /** After FROM or JOIN. */
  | { kind: 'table'; typed: string }
  /** The start of an expression, or a keyword. */
  | { kind: 'name'; typed: string }
  /** After `person.` or `e.`: columns that begin so, or those of a table. */
  | { kind: 'member'; of: string; typed: string }
  /** After `properties.`, or between the quotes of `properties['…']`. */
  | { kind: 'property'; of: string | null; typed: string; isQuoted: boolean }
  /** Between the quotes of `event = '…'`. */
  | { kind: 'event'; typed: string }

const PATH = /((?:[\w$]+\.)*)([\w$]*)$/
const PROPERTIES_BRACKET = /(?:\b([\w$]+)\.)?properties\s*\[\s*$/i
const EVENT_COMPARED =
  /\bevent\s*(?:=|==|!=|<>|\b(?:not\s+)?i?like|\b(?:not\s+)?in\s*[([](?:[^()[\]]*,)?)\s*$/i

export function placeAt(before: string): Place | null {
  const open = openPart(before)
  if (open !== null) {
    if (open.mark !== "'") return null
    const typed = before.slice(open.at + 1)
    const code = before.slice(0, open.at)
    const bracket = PROPERTIES_BRACKET.exec(code)
    if (bracket) return { kind: 'property', of: bracket[1] ?? null, typed, isQuoted: true }
    return EVENT_COMPARED.test(code) ? { kind: 'event', typed } : null
  }
  const [, path = '', typed = ''] = PATH.exec(before) ?? []
  if (/^\d/.test(path + typed)) return null
  const parts = path.split('.').slice(0, -1)
  const last = parts.at(-1)
  if (last === 'properties') return { kind: 'property', of: parts.at(-2) ?? null, typed, isQuoted: false }
  if (last !== undefined) return { kind: 'member', of: last, typed }
  const code = before.slice(0, before.length - typed.length)
  return { kind: /\b(?:from|join)\s+$/i.test(code) ? 'table' : 'name', typed }
}

/** The string, quoted name or comment that the text ends in; null for plain code. */
function openPart(text: string): { mark: string; at: number } | null {
  const marks = /'(?:[^'\\]|\\.|'')*'|`[^`]*`|"(?:[^"\\]|\\.)*"|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/|['`"]|\/\*/g
  for (let match; (match = marks.exec(text)) !== null;) {
    const [part] = match
    const isComment = part.startsWith('--') && !part.endsWith('\n')
    if (isComment || part.length === 1 || part === '/*') return { mark: part[0]!, at: match.index }
  }
  return null
}

/** Names of tables that the text asks, by the names it gives them. */
export function tablesIn(text: string, known: ReadonlySet<string>): ReadonlyMap<string, string> {
  const named = new Map<string, string>()
  for (const [, table, alias] of text.matchAll(
    /\b(?:from|join)\s+([\w$]+)(?:\s+(?:as\s+)?([A-Za-z_]\w*))?/gi,
  )) {
    if (!known.has(table!)) continue
    named.set(table!, table!)
    if (alias !== undefined && !NO_ALIAS.test(alias)) named.set(alias, table!)
  }
  return named
}

const NO_ALIAS =
  /^(?:where|prewhere|group|order|limit|join|left|right|inner|full|cross|any|all|on|using|having|union|intersect|except|sample|final|array|window|qualify|offset|settings)$/i
