// Values of a result as text: in cells, and in files.
import type { Result } from './result'

/** Cells are cut anyway; what is longer is not even laid out. */
const MOST_SHOWN = 400
/** Programs for tables take such cells for formulas (as src/features/events/listing/csv.ts). */
const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** The whole of it: null is nothing, lists and objects are JSON. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function cellText(value: unknown): string {
  const text = valueText(value)
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
}

/** `2026-11-16T14:02:00Z` as people read it; in the zone it came in, which is the project's. */
export const instantText = (value: string): string =>
  value
    .replace('T', ' ')
    .replace(/Z$|[+-]\d\d:\d\d$/, '')
    .replace(/(\.\d{3})000$/, '$1')

export function csvOf({ columns, rows }: Result): string {
  const line = (values: readonly unknown[]) => `${values.map(csvCell).join(',')}\r\n`
  return line(columns) + rows.map(line).join('')
}

function csvCell(value: unknown): string {
  const text = valueText(value)
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A list of objects; of columns with the same name the later ones are numbered, so that none is lost. */
export function jsonOf({ columns, rows }: Result): string {
  const seen = new Map<string, number>()
  const names = columns.map((name) => {
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return count === 1 ? name : `${name}_${count}`
  })
  const lines = rows.map((row) =>
    JSON.stringify(Object.fromEntries(names.map((name, at) => [name, row[at]]))),
  )
  return `[\n${lines.join(',\n')}\n]\n`
}
