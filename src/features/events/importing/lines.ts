// Bytes cut into lines. A line over the limit is not kept: only its beginning and its length.
import { isUtf8 } from 'node:buffer'

export type Line = {
  /** Counted from 1. */
  number: number
  /** Without its end; cut when `bytes` is over the limit. */
  text: string
  bytes: number
  /** Why nothing can be made of it. */
  fault: string | null
}

/** One event may be so large, here as in capture. */
export const MAX_ROW_BYTES = 1024 * 1024
/** Shown of a line that is too long. */
const SHOWN_BYTES = 1000
const NEWLINE = 0x0a
const BOM = '\uFEFF'

/** In lists, one for each chunk of input: an event loop turn for every line would cost more than its parsing. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line[]> {
  let number = 0
  let held: Buffer[] = []
  let bytes = 0
  const hold = (part: Buffer) => {
    if (bytes <= MAX_ROW_BYTES) held.push(part)
    bytes += part.length
  }
  const finish = (): Line => {
    number += 1
    const line = lineOf(number, held, bytes)
    held = []
    bytes = 0
    return line
  }
  for await (const chunk of chunks) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    const lines: Line[] = []
    let from = 0
    for (let end = buffer.indexOf(NEWLINE); end !== -1; end = buffer.indexOf(NEWLINE, from)) {
      hold(buffer.subarray(from, end))
      lines.push(finish())
      from = end + 1
    }
    if (from < buffer.length) hold(buffer.subarray(from))
    if (lines.length > 0) yield lines
  }
  if (bytes > 0) yield [finish()]
}

function lineOf(number: number, parts: readonly Buffer[], bytes: number): Line {
  const whole = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  if (bytes > MAX_ROW_BYTES) {
    const text = whole.toString('utf8', 0, SHOWN_BYTES)
    return {
      number,
      text,
      bytes,
      fault: `the line is longer than 1 MB (${bytes} bytes); its text is cut here`,
    }
  }
  const decoded = whole.toString('utf8')
  const text = number === 1 && decoded.startsWith(BOM) ? decoded.slice(1) : decoded
  return { number, text, bytes, fault: faultOf(decoded, whole) }
}

function faultOf(text: string, bytes: Buffer): string | null {
  if (text.includes('\uFFFD') && !isUtf8(bytes)) return 'the line is not valid UTF-8'
  return text.includes('\0') ? 'the line holds NUL characters' : null
}
