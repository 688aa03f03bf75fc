// A file of COPY text on its way to a database that is particular about JSON. Nearly always it goes through as it is, so
// the look costs a search for bytes; only the lines of a stretch that has them are taken apart.
import { createReadStream } from 'node:fs'
import type { OutputColumn } from '../../definition.ts'
import { withoutRefused } from './clean-json.ts'
import { fieldsOf, lineOf } from './copy-text.ts'

const STRETCH_BYTES = 1024 * 1024
const LINE_FEED = 10
/** As COPY text has them: with the backslash doubled. And NUL itself, which no text of PostgreSQL holds. */
const SUSPECTS = ['\\\\u0000', '\\\\ud', '\\\\uD', '\0']

/** Whole lines. Calls `cleaned` when something was taken out. */
export async function* cleanedStretches(
  path: string,
  columns: readonly OutputColumn[],
  signal: AbortSignal,
  cleaned: () => void,
): AsyncGenerator<Buffer> {
  const clean = (stretch: Buffer) => {
    if (!SUSPECTS.some((suspect) => stretch.includes(suspect))) return stretch
    const after = stretch
      .toString()
      .split('\n')
      .map((line) => cleanLine(line, columns))
      .join('\n')
    const result = Buffer.from(after)
    if (!result.equals(stretch)) cleaned()
    return result
  }
  let rest: Buffer[] = []
  for await (const read of createReadStream(path, { highWaterMark: STRETCH_BYTES, signal })) {
    const bytes = read as Buffer
    const end = bytes.lastIndexOf(LINE_FEED) + 1
    if (end > 0) yield clean(Buffer.concat([...rest, bytes.subarray(0, end)]))
    rest = end > 0 ? [bytes.subarray(end)] : [...rest, bytes]
  }
  const last = Buffer.concat(rest)
  if (last.length > 0) yield clean(last)
}

function cleanLine(line: string, columns: readonly OutputColumn[]): string {
  if (line === '') return line
  const fields = fieldsOf(line.replaceAll('\0', ''))
  return lineOf(
    fields.map((field, index) =>
      field !== null && columns[index]?.kind === 'json' ? withoutRefused(field) : field,
    ),
  )
}
