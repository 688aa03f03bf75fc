// A file sent in parts, several at a time, each read from disk as it is sent: memory does not grow with the file.
// Called by the destinations that are object stores.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { OutputFile } from '../formats/encoding.ts'

export type FilePart = {
  /** From 0 on. */
  index: number
  bytes: number
  /** Made anew by each call, so that a part can be sent again. */
  read(): Readable
  /** Base64: the place refuses a part that was damaged on the way. */
  md5: string
}

const PART_BYTES = 50 * 1024 * 1024
/** What S3 allows; Azure allows more. */
const MAX_PARTS = 10_000
const AT_ONCE = 5

/** Answers in the order of the parts. When one fails, the others are stopped and over before this throws. */
export async function sendParts<T>(
  file: Pick<OutputFile, 'path' | 'bytes'>,
  signal: AbortSignal,
  send: (part: FilePart, signal: AbortSignal) => Promise<T>,
  part_bytes = PART_BYTES,
): Promise<T[]> {
  const size = Math.max(part_bytes, Math.ceil(file.bytes / MAX_PARTS))
  const indexes = Array.from({ length: Math.max(1, Math.ceil(file.bytes / size)) }, (_, index) => index)
  const answers: T[] = []
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const waiting = indexes.values()
  const sendNext = async () => {
    for (const index of waiting) {
      either.throwIfAborted()
      answers[index] = await send(await readPart(file, index, size), either)
    }
  }
  const senders = Array.from({ length: Math.min(AT_ONCE, indexes.length) }, sendNext)
  try {
    await Promise.all(senders)
  } catch (error) {
    stop.abort(error)
    await Promise.allSettled(senders)
    throw error
  }
  return answers
}

/** A text that is one part by itself. */
export function partOf(text: string): FilePart {
  const md5 = createHash('md5').update(text).digest('base64')
  return { index: 0, bytes: Buffer.byteLength(text), read: () => Readable.from([Buffer.from(text)]), md5 }
}

async function readPart(
  file: Pick<OutputFile, 'path' | 'bytes'>,
  index: number,
  size: number,
): Promise<FilePart> {
  const start = index * size
  const bytes = Math.min(size, file.bytes - start)
  // For nothing at all `end` would be before `start`, which is refused.
  const read = () => createReadStream(file.path, bytes === 0 ? {} : { start, end: start + bytes - 1 })
  const hash = createHash('md5')
  for await (const chunk of read()) hash.update(chunk as Buffer)
  return { index, bytes, read, md5: hash.digest('base64') }
}
