// A file of COPY text on its way to a database that is particular about JSON. Nearly always it goes through as it is, so
// the look costs a search for bytes; only the lines of a stretch that has them are taken apart.
import { open } from 'node:fs/promises'
import type { OutputColumn } from '../../definition.ts'
import { withoutRefused } from './clean-json.ts'
import { fieldsOf, lineOf } from './copy-text.ts'

const STRETCH_BYTES = 1024 * 1024
const LINE_FEED = 10
/** As COPY text has them: with the backslash doubled. All begin alike, so most stretches are searched once. */
const REFUSED_ESCAPES = ['\\\\u0000', '\\\\ud', '\\\\uD']
const ESCAPE = '\\\\u'
/** No text of PostgreSQL holds it. */
const NUL = 0
const NOTHING = Buffer.alloc(0)

/** Whole lines. Calls `cleaned` when something was taken out. */
export async function* cleanedStretches(
  path: string,
  columns: readonly OutputColumn[],
  signal: AbortSignal,
  cleaned: () => void,
): AsyncGenerator<Buffer> {
  const clean = (stretch: Buffer) => {
    if (!isSuspect(stretch)) return stretch
    const after = stretch
      .toString()
      .split('\n')
      .map((line) => cleanLine(line, columns))
      .join('\n')
    const result = Buffer.from(after)
    if (!result.equals(stretch)) cleaned()
    return result
  }
  const file = await open(path, 'r')
  try {
    let rest = NOTHING
    for (;;) {
      signal.throwIfAborted()
      // Behind what is left of the last one, so that only that is copied.
      const buffer = Buffer.allocUnsafeSlow(rest.length + STRETCH_BYTES)
      rest.copy(buffer)
      const { bytesRead } = await file.read(buffer, rest.length, STRETCH_BYTES)
      if (bytesRead === 0) break
      const bytes = buffer.subarray(0, rest.length + bytesRead)
      const end = bytes.lastIndexOf(LINE_FEED) + 1
      if (end > 0) yield clean(bytes.subarray(0, end))
      rest = bytes.subarray(end)
    }
    if (rest.length > 0) yield clean(rest)
  } finally {
    await file.close()
  }
}

function isSuspect(stretch: Buffer): boolean {
  if (stretch.includes(NUL)) return true
  return stretch.includes(ESCAPE) && REFUSED_ESCAPES.some((escape) => stretch.includes(escape))
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
