// Long answers as text: JSON in pieces, so that a page of 50,000 events holds nobody else up, or CSV.
import { ready } from '../../platform/http/route.ts'
import { writeCsv, type CsvTable } from './listing/csv.ts'
import { slicesOf } from './listing/slices.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const CSV_TYPE = 'text/csv; charset=utf-8'
// What is short goes out in one piece, with its length told in advance.
const SHORT = 64 * 1024

export type JsonList<Row> = {
  rows: readonly Row[]
  weightOf(row: Row): number
  /** JSON of one row. */
  textOf(row: Row): string
  /** The fields beside `results`. */
  beside: Record<string, unknown>
}

/** `{…beside, "results": [rows]}` */
export async function answerJsonList<Row>(list: JsonList<Row>) {
  const isShort = list.rows.reduce((sum, row) => sum + list.weightOf(row), 0) < SHORT
  return ready(JSON_TYPE, isShort ? await joined(jsonPieces(list)) : jsonPieces(list))
}

export function answerJson(text: string) {
  return ready(JSON_TYPE, text)
}

export async function answerCsv<Row>(table: CsvTable<Row>) {
  return ready(CSV_TYPE, await writeCsv(table))
}

async function* jsonPieces<Row>({ rows, weightOf, textOf, beside }: JsonList<Row>): AsyncGenerator<string> {
  const fields = Object.entries(beside).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`,
  )
  yield `{${fields.join('')}"results":[`
  let separator = ''
  for await (const slice of slicesOf(rows, weightOf)) {
    yield separator + slice.map(textOf).join(',')
    separator = ','
  }
  yield ']}'
}

async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}
