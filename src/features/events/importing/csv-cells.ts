// One record of CSV: cells in quotes or without, parted by comma, semicolon or tab.

/** A record that is not whole yet, because a quoted cell goes on in the next line. */
export type OpenRecord = { cells: string[]; open: string | null }

const SEPARATORS = [',', ';', '\t']

/** The separator is the one that a header has most of. */
export function separatorOf(header: string): string {
  const count = (separator: string) => header.split(separator).length
  return SEPARATORS.toSorted((a, b) => count(b) - count(a))[0]!
}

/** The cells of a line that is a record of its own; null when it is none. */
export function splitCsvCells(line: string): { cells: string[]; separator: string } | null {
  const separator = separatorOf(line)
  const record = addLine({ cells: [], open: null }, line, separator)
  return record === null || record.open !== null ? null : { cells: record.cells, separator }
}

/** Takes a further line, without its `\\n`, into a record. Null: a quote stands where none may. */
export function addLine({ cells, open }: OpenRecord, line: string, separator: string): OpenRecord | null {
  let at = 0
  let cell = open === null ? null : `${open}\n`
  for (;;) {
    if (cell === null && line[at] !== '"') {
      const end = line.indexOf(separator, at)
      const plain = end === -1 ? line.slice(at).replace(/\r$/, '') : line.slice(at, end)
      if (plain.includes('"')) return null
      cells.push(plain)
      if (end === -1) return { cells, open: null }
      at = end + 1
      continue
    }
    if (cell === null) at += 1
    const quoted = quotedPart(line, at)
    cell = (cell ?? '') + quoted.text
    if (quoted.end === null) return { cells, open: cell }
    cells.push(cell)
    cell = null
    const isLast = quoted.end === line.length || (quoted.end === line.length - 1 && line.endsWith('\r'))
    if (isLast) return { cells, open: null }
    if (line[quoted.end] !== separator) return null
    at = quoted.end + 1
  }
}

/** Up to the closing quote; `end` is the index behind it, null when the line has none. Two quotes stand for one. */
function quotedPart(line: string, from: number): { text: string; end: number | null } {
  let text = ''
  for (let at = from; ;) {
    const quote = line.indexOf('"', at)
    if (quote === -1) return { text: text + line.slice(at), end: null }
    text += line.slice(at, quote)
    if (line[quote + 1] !== '"') return { text, end: quote + 1 }
    text += '"'
    at = quote + 2
  }
}
