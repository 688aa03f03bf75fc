// JSONLines: one event a line.
import { parseJson } from '../capture/parse-json.ts'
import { invalidPayload } from '../capture/refusal.ts'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import { syntaxFault } from './field-values.ts'
import { linesOf, type Line } from './lines.ts'
import type { Row } from './rows.ts'

export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  for await (const lines of linesOf(chunks)) yield lines.filter(isFilled).map(rowOf)
}

function isFilled({ text, fault }: Line): boolean {
  return fault !== null || text.trim() !== ''
}

function rowOf({ number, text, bytes, fault }: Line): Row {
  return { line: number, bytes, text: () => text.replace(/\r$/, ''), read: () => parse(text, fault) }
}

function parse(text: string, fault: string | null): JsonObject {
  if (fault !== null) throw invalidPayload(fault)
  const value = parseLine(text)
  if (!isObject(value)) throw invalidPayload('the line is not a JSON object')
  return value
}

/** The words of capture are about bodies. */
function parseLine(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    const fault = syntaxFault(text)
    throw fault === null ? error : invalidPayload(`the line is not JSON: ${fault}`)
  }
}
