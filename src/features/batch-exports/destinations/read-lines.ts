// The lines of a file on this machine, a stretch at a time: for destinations that take rows rather than files.
import { createReadStream } from 'node:fs'

const STRETCH_BYTES = 256 * 1024

/** Only line feeds end a line: Node's own reader would also cut at U+2028, which JSON text may hold as it is. */
export async function* readLines(path: string, signal: AbortSignal): AsyncGenerator<string[]> {
  let rest: string[] = []
  const options = { encoding: 'utf8', highWaterMark: STRETCH_BYTES, signal } as const
  for await (const read of createReadStream(path, options)) {
    const text = String(read)
    const end = text.lastIndexOf('\n')
    if (end !== -1) yield [...rest, text.slice(0, end)].join('').split('\n')
    rest = end === -1 ? [...rest, text] : [text.slice(end + 1)]
  }
  const last = rest.join('')
  if (last !== '') yield [last]
}
