// Records as CSV: nested values become columns named by their path, the header is the union of all rows' columns.
import { invalid } from '../../../platform/http/errors.ts'
import { slicesOf } from './slices.ts'

/** Text of the cells by column. */
export type Cells = Map<string, string>

export type CsvTable<Row> = {
  rows: readonly Row[]
  weightOf(row: Row): number
  /** Groups of columns, from left to right; within a group they are sorted by code point. As many for every row. */
  cellsOf(row: Row): readonly Cells[]
  /** The header when there are no rows: an empty file breaks importers. */
  header_of_nothing: readonly string[]
}

// Path names of a hostile record grow with the square of its depth; what lies deeper stays JSON text in one cell.
const MAX_DEPTH = 20
// A thousand events with a thousand properties of their own each make a million columns of a thousand cells.
const MAX_CELLS = 20_000_000
const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** Everything that can fail is done when the promise is kept; rows are read again for their lines, not kept as cells. */
export async function writeCsv<Row>(table: CsvTable<Row>): Promise<AsyncIterable<string>> {
  return lines(table, await collectHeader(table))
}

async function collectHeader<Row>(table: CsvTable<Row>): Promise<string[][]> {
  if (table.rows.length === 0) return [[...table.header_of_nothing]]
  const groups: Set<string>[] = []
  for await (const slice of slicesOf(table.rows, table.weightOf)) {
    for (const row of slice) {
      for (const [index, cells] of table.cellsOf(row).entries()) {
        const names = (groups[index] ??= new Set())
        for (const name of cells.keys()) names.add(name)
      }
    }
    assertPrintable(groups, table.rows.length)
  }
  return groups.map((names) => [...names].sort(byCodePoint))
}

function assertPrintable(groups: readonly ReadonlySet<string>[], rows: number): void {
  const width = groups.reduce((sum, { size }) => sum + size, 0)
  if (width * rows <= MAX_CELLS) return
  throw invalid('limit', 'invalid_input', 'These rows have too many different columns: ask for fewer rows.')
}

async function* lines<Row>(
  table: CsvTable<Row>,
  header: readonly (readonly string[])[],
): AsyncGenerator<string> {
  yield line(header.flat().map(guarded))
  for await (const slice of slicesOf(table.rows, table.weightOf)) {
    let text = ''
    for (const row of slice) {
      const groups = table.cellsOf(row)
      text += line(header.flatMap((names, index) => names.map((name) => groups[index]!.get(name) ?? '')))
    }
    yield text
  }
}

function line(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`
}

/** RFC 4180. */
function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** Lists by index, null as an empty cell, nothing for what is empty. */
export function cellsOfRecord(record: Readonly<Record<string, unknown>>): Cells {
  const cells: Cells = new Map()
  for (const [name, value] of Object.entries(record)) addCells(cells, name, value)
  return cells
}

function addCells(cells: Cells, name: string, value: unknown, depth = 1): void {
  if (typeof value !== 'object' || value === null) {
    cells.set(name, scalarText(value))
  } else if (depth >= MAX_DEPTH) {
    cells.set(name, JSON.stringify(value))
  } else {
    for (const [key, inner] of Object.entries(value)) addCells(cells, `${name}.${key}`, inner, depth + 1)
  }
}

function scalarText(value: unknown): string {
  if (value === null) return ''
  return typeof value === 'string' ? guarded(value) : JSON.stringify(value)
}

/**
 * Spreadsheets run a cell that begins with one of these as a formula, and events come from the public: an apostrophe
 * makes it text. What is a plain number stays one.
 */
function guarded(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
}

/** JavaScript compares UTF-16 units, which puts emoji before some letters. */
function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
