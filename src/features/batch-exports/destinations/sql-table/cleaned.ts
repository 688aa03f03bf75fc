// Cleans a file of COPY text for a database that refuses some JSON. Nearly always the file passes unchanged, so the
// check is a search for bytes; only the lines of a stretch with a hit are parsed.
import { open } from 'node:fs/promises'
import type { OutputColumn } from '../../definition.ts'
import { withoutRefused } from './clean-json.ts'
import { fieldsOf, lineOf } from './copy-text.ts'

const STRETCH_BYTES = 1024 * 1024
/** Enough for a piece, which has some 32 MB. */
const STRETCHES_KEPT = 40
/** Size of a message, which the database has in memory as a whole before it reads the first row. */
const MESSAGE_BYTES = 64 * 1024
const LINE_FEED = 10
/**
 * As they stand in COPY text, with the backslash doubled. All begin with ESCAPE, so most stretches are searched once.
 */
const REFUSED_ESCAPES = ['\\\\u0000', '\\\\ud', '\\\\uD']
const ESCAPE = '\\\\u'
/** PostgreSQL's texts cannot hold it. */
const NUL = 0
const NOTHING = Buffer.alloc(0)

/**
 * Buffers that are reused from file to file. New ones for all bytes would keep V8's garbage collector busy for about as
 * long as the engine takes to write the rows.
 */
export class Stretches {
  readonly #free: Buffer[] = []
  readonly #given: Buffer[] = []

  /** Called before the next file: nobody needs the buffers of the last one any more. */
  takeBack(): void {
    this.#free.push(...this.#given.splice(0).slice(0, STRETCHES_KEPT - this.#free.length))
  }

  give(bytes: number): Buffer {
    if (bytes > STRETCH_BYTES) return Buffer.allocUnsafeSlow(bytes)
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(STRETCH_BYTES)
    this.#given.push(buffer)
    return buffer
  }
}

/** Calls `cleaned` when something was taken out. */
export async function* cleanedBytes(
  path: string,
  columns: readonly OutputColumn[],
  memory: Stretches,
  signal: AbortSignal,
  cleaned: () => void,
): AsyncGenerator<Buffer> {
  for await (const lines of wholeLines(path, memory, signal)) {
    const clean = isSuspect(lines) ? cleanLines(lines, columns) : lines
    if (clean !== lines && !clean.equals(lines)) cleaned()
    for (let start = 0; start < clean.length; start += MESSAGE_BYTES)
      yield clean.subarray(start, start + MESSAGE_BYTES)
  }
}

async function* wholeLines(path: string, memory: Stretches, signal: AbortSignal): AsyncGenerator<Buffer> {
  const file = await open(path, 'r')
  try {
    let rest: Buffer = NOTHING
    for (;;) {
      signal.throwIfAborted()
      // Reads behind the rest of the last stretch, so only the rest is copied. A line may be longer than a stretch.
      const buffer = memory.give(Math.max(STRETCH_BYTES, rest.length * 2))
      rest.copy(buffer)
      const { bytesRead } = await file.read(buffer, rest.length, buffer.length - rest.length)
      if (bytesRead === 0) break
      const bytes = buffer.subarray(0, rest.length + bytesRead)
      const end = bytes.lastIndexOf(LINE_FEED) + 1
      if (end > 0) yield bytes.subarray(0, end)
      rest = bytes.subarray(end)
    }
    if (rest.length > 0) yield rest
  } finally {
    await file.close()
  }
}

function cleanLines(lines: Buffer, columns: readonly OutputColumn[]): Buffer {
  const clean = lines
    .toString()
    .split('\n')
    .map((line) => cleanLine(line, columns))
  return Buffer.from(clean.join('\n'))
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
