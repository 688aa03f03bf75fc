// CSV with a header. A record may go over several lines; where quotes do not match, only the line at fault is kept aside
// and reading goes on with the next one, so that one stray quote cannot swallow the rest of the file.
import { invalidPayload } from '../capture/refusal.ts'
import type { JsonObject } from '../../../lib/json-object.ts'
import { addLine, splitCsvCells, type OpenRecord } from './csv-cells.ts'
import { linesOf, MAX_ROW_BYTES, type Line } from './lines.ts'
import type { Row } from './rows.ts'

type Header = { names: readonly string[]; separator: string }

export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  let records: Records | null = null
  for await (const lines of linesOf(chunks)) {
    let rest = lines
    if (records === null) {
      const at = lines.findIndex(({ text }) => text.trim() !== '')
      if (at === -1) continue
      records = new Records(headerOf(lines[at]!))
      rest = lines.slice(at + 1)
    }
    const rows: Row[] = []
    for (const line of rest) records.add(line, rows)
    yield rows
  }
  const rows: Row[] = []
  records?.finish(rows)
  yield rows
}

function headerOf({ text, fault }: Line): Header {
  const header = fault === null ? splitCsvCells(text) : null
  if (header === null) throw new Error('the header of the CSV file cannot be read')
  return { names: header.cells.map((name) => name.trim()), separator: header.separator }
}

class Records {
  readonly #header: Header
  /** Lines of the record that is not whole yet. */
  #lines: Line[] = []
  #bytes = 0
  #record: OpenRecord = { cells: [], open: null }

  constructor(header: Header) {
    this.#header = header
  }

  add(line: Line, rows: Row[]): void {
    // The next one to read is the last of the list.
    for (const waiting = [line]; waiting.length > 0;) {
      const fault = this.#take(waiting.pop()!, rows)
      if (fault === null) continue
      for (const again of this.#giveUpFirst(fault, rows).toReversed()) waiting.push(again)
    }
  }

  finish(rows: Row[]): void {
    while (this.#lines.length > 0) {
      for (const line of this.#giveUpFirst('a quote is opened and never closed', rows)) this.add(line, rows)
    }
  }

  /** What is wrong, or null. */
  #take(line: Line, rows: Row[]): string | null {
    const isFirst = this.#lines.length === 0
    if (isFirst && line.fault === null && line.text.trim() === '') return null
    this.#lines.push(line)
    this.#bytes += line.bytes + 1
    if (line.fault !== null) return isFirst ? line.fault : 'a quote is opened and closed by no readable line'
    if (this.#bytes > MAX_ROW_BYTES) return 'a quote is opened and not closed within 1 MB'
    const record = addLine(this.#record, line.text, this.#header.separator)
    if (record === null) return 'a quote stands where none may'
    this.#record = record
    if (record.open !== null) return null
    rows.push(rowOf(this.#header, this.#lines, this.#bytes, record.cells))
    this.#reset()
    return null
  }

  /** The first line of the record is kept aside; those after it are to be read again. */
  #giveUpFirst(fault: string, rows: Row[]): Line[] {
    const [first, ...others] = this.#lines
    rows.push(faultyRow(first!, fault))
    this.#reset()
    return others
  }

  #reset(): void {
    this.#lines = []
    this.#bytes = 0
    this.#record = { cells: [], open: null }
  }
}

function rowOf({ names }: Header, lines: readonly Line[], bytes: number, cells: readonly string[]): Row {
  return {
    line: lines[0]!.number,
    bytes,
    text: () => lines.map(({ text }) => text.replace(/\r$/, '')).join('\n'),
    read: () => fieldsOf(names, cells),
  }
}

function faultyRow({ number, bytes, text }: Line, fault: string): Row {
  return {
    line: number,
    bytes,
    text: () => text,
    read() {
      throw invalidPayload(fault)
    },
  }
}

/** An empty cell is no value. */
function fieldsOf(names: readonly string[], cells: readonly string[]): JsonObject {
  if (cells.length !== names.length)
    throw invalidPayload(`the line has ${cells.length} cells, the header ${names.length}`)
  const fields: JsonObject = Object.create(null)
  for (const [index, cell] of cells.entries()) if (cell !== '') fields[names[index]!] = cell
  return fields
}
