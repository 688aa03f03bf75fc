// Lines as they come out of a file, and the uuid of each. In JSON it is found in place where our own files have it, and read
// from the parsed object otherwise. In COPY text with one column it is the line.
import type { UuidSums } from './uuid-sums.ts'

const LINE_FEED = 0x0a
const QUOTE = 0x22
const BACKSLASH = 0x5c
/** How a line begins when the uuid is its first column, as it is unless somebody chose other columns. */
const BEGINNING = Buffer.from('{"uuid":"')
const UUID_LENGTH = 36

/** Each line, as a stretch of a buffer that is good until the next one is asked for. */
export async function forEachLine(
  chunks: AsyncIterable<Buffer>,
  use: (chunk: Buffer, start: number, end: number) => void,
): Promise<void> {
  let rest: Buffer[] = []
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      if (rest.length === 0) use(chunk, start, end)
      else {
        const whole = Buffer.concat([...rest, chunk.subarray(start, end)])
        rest = []
        use(whole, 0, whole.length)
      }
      start = end + 1
    }
    if (start < chunk.length) rest.push(chunk.subarray(start))
  }
  const last = Buffer.concat(rest)
  if (last.length > 0) use(last, 0, last.length)
}

export function addUuidOfLine(uuids: UuidSums, chunk: Buffer, start: number, end: number): void {
  const from = start + BEGINNING.length
  const to = from + UUID_LENGTH
  if (to < end && chunk[to] === QUOTE && hasUuidFirst(chunk, start)) uuids.addBytes(chunk, from, to)
  else uuids.add(uuidIn(chunk.toString('utf8', start, end)))
}

/** Byte by byte: a call into the runtime takes longer than that. */
function hasUuidFirst(chunk: Buffer, start: number): boolean {
  for (let at = 0; at < BEGINNING.length; at++) if (chunk[start + at] !== BEGINNING[at]) return false
  const from = start + BEGINNING.length
  for (let at = from; at < from + UUID_LENGTH; at++) {
    // Nothing is escaped in a uuid; of other texts the parser knows more.
    if (chunk[at] === QUOTE || chunk[at] === BACKSLASH) return false
  }
  return true
}

/** A line that is no JSON is a row like any other, of nobody. */
function uuidIn(line: string): string {
  try {
    const { uuid } = JSON.parse(line) as { uuid?: unknown }
    return typeof uuid === 'string' ? uuid : ''
  } catch {
    return ''
  }
}

/** Adds the uuids of a file of COPY text whose only column they are. */
export async function addUuidsOfTexts(uuids: UuidSums, chunks: AsyncIterable<Buffer>): Promise<void> {
  let seen: Buffer | null = null
  let has_escapes = false
  await forEachLine(chunks, (chunk, start, end) => {
    if (chunk !== seen) [seen, has_escapes] = [chunk, chunk.includes(BACKSLASH)]
    if (has_escapes) uuids.add(unescaped(chunk.toString('utf8', start, end)))
    else uuids.addBytes(chunk, start, end)
  })
}

const ESCAPED: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' }

/** Null counts as an empty text. */
function unescaped(text: string): string {
  if (text === String.raw`\N`) return ''
  return text.replaceAll(/\\(.)/g, (_, letter: string) => ESCAPED[letter] ?? letter)
}
