// Unpacks zstd as it streams by, frame by frame: by Node where it can (from 22.15 on), else by the decoder of this folder
// (docs/decisions/0057). Holds one window (8 MB as a rule, at most 128 MB) and one block.
import { pipeline, Readable, type Duplex } from 'node:stream'
import * as zlib from 'node:zlib'
import { ZstdError } from './bits.ts'
import { decodeBlock, newBlockState, type Window } from './block.ts'
import { littleEndian } from './literals.ts'

/** `header`: its bytes, from behind the magic number on. */
type Frame = { window_bytes: number; has_checksum: boolean; header: Uint8Array }
type OpenStream = (options: { chunkSize: number; finishFlush: number }) => Duplex

/** Undefined in Node 20, whose types these are. */
export const { createZstdDecompress } = zlib as { createZstdDecompress?: OpenStream }

const MAGIC = 0xfd2fb528
const MAGIC_BYTES = Buffer.from('28b52ffd', 'hex')
const SKIPPED_FIRST = 0x184d2a50
const SKIPPED_LAST = 0x184d2a5f
const MAX_BLOCK = 128 * 1024
/** ZSTD_e_flush, which the types of Node 20 do not know: where the data is cut, what was unpacked comes out. */
const FLUSH = 1
const MAX_WINDOW = 128 * 1024 * 1024
const SPARE = 4 * 1024 * 1024
const [RAW, REPEATED, COMPRESSED] = [0, 1, 2]

/** Frames one after another, as many as there are. */
export async function* decompressZstd(
  packed: AsyncIterable<Uint8Array>,
  openStream: OpenStream | null = createZstdDecompress ?? null,
): AsyncGenerator<Uint8Array> {
  const input = new ByteQueue(packed)
  while (!(await input.isAtEnd())) {
    const magic = littleEndian(await input.take(4), 0, 4)
    if (magic >= SKIPPED_FIRST && magic <= SKIPPED_LAST) {
      await input.skip(littleEndian(await input.take(4), 0, 4))
    } else if (magic === MAGIC) {
      yield* openStream ? streamFrame(input, openStream) : decompressFrame(input)
    } else throw new ZstdError('what follows is not zstd')
  }
}

/** A stream of Node ends without a word behind the first frame, or where the data is cut: it gets one frame. */
async function* streamFrame(input: ByteQueue, openStream: OpenStream): AsyncGenerator<Uint8Array> {
  let fault: unknown = null
  async function* packed() {
    try {
      yield* packedFrame(input)
    } catch (error) {
      fault = error
    }
  }
  const unpack = openStream({ chunkSize: MAX_BLOCK, finishFlush: FLUSH })
  // The reader of the last stream hears of every failure.
  yield* pipeline(Readable.from(packed()), unpack, () => undefined)
  if (fault !== null) throw fault
}

async function* packedFrame(input: ByteQueue): AsyncGenerator<Uint8Array> {
  const { header, has_checksum } = await readFrameHeader(input)
  yield MAGIC_BYTES
  yield header
  for (let isLast = false; !isLast;) {
    const head = await input.take(3)
    const block = readBlockHead(head)
    isLast = block.isLast
    yield head
    yield await input.take(block.kind === REPEATED ? 1 : block.size)
  }
  if (has_checksum) yield await input.take(4)
}

/** Checksums are passed over: damage shows in the structure of the data, and in lines that are no longer JSON. */
async function* decompressFrame(input: ByteQueue): AsyncGenerator<Uint8Array> {
  const { window_bytes, has_checksum } = await readFrameHeader(input)
  const maxBlock = Math.min(Math.max(window_bytes, 1), MAX_BLOCK)
  const bytes = new Uint8Array(window_bytes + Math.max(SPARE, window_bytes >> 1))
  const window: Window = { bytes, at: 0, reach: window_bytes, limit: 0 }
  const state = newBlockState()
  for (let isLast = false; !isLast;) {
    const block = readBlockHead(await input.take(3))
    const { kind, size } = block
    isLast = block.isLast
    if (size > (kind === REPEATED ? MAX_BLOCK : maxBlock))
      throw new ZstdError('a block is larger than allowed')
    makeRoom(window, window_bytes)
    const from = window.at
    window.limit = from + MAX_BLOCK
    if (kind === COMPRESSED) decodeBlock(await input.take(size), state, window)
    else if (kind === RAW) {
      bytes.set(await input.take(size), from)
      window.at += size
    } else if (kind === REPEATED) {
      bytes.fill((await input.take(1))[0]!, from, from + size)
      window.at += size
    } else throw new ZstdError('a block is of no known kind')
    if (window.at > from) yield bytes.slice(from, window.at)
  }
  if (has_checksum) await input.skip(4)
}

/** Copies reach back a window at most: what lies further back makes way for the next block. */
function makeRoom(window: Window, window_bytes: number): void {
  if (window.at + MAX_BLOCK <= window.bytes.length) return
  window.bytes.copyWithin(0, window.at - window_bytes, window.at)
  window.at = window_bytes
}

function readBlockHead(bytes: Uint8Array): { isLast: boolean; kind: number; size: number } {
  const head = littleEndian(bytes, 0, 3)
  return { isLast: (head & 1) === 1, kind: (head >> 1) & 3, size: head >> 3 }
}

async function readFrameHeader(input: ByteQueue): Promise<Frame> {
  const header: Uint8Array[] = []
  const take = async (count: number) => header[header.push(await input.take(count)) - 1]!
  const descriptor = (await take(1))[0]!
  const isSingle = (descriptor & 0x20) !== 0
  if ((descriptor & 0x08) !== 0) throw new ZstdError('a frame uses a feature that is not known')
  const windowByte = isSingle ? 0 : (await take(1))[0]!
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!
  if (littleEndian(await take(dictionaryBytes), 0, dictionaryBytes) !== 0)
    throw new Error('the zstd data needs a dictionary, which is not supported')
  const sizeForm = descriptor >> 6
  const sizeBytes = sizeForm === 0 ? (isSingle ? 1 : 0) : 2 ** sizeForm
  const content = littleEndian(await take(sizeBytes), 0, sizeBytes) + (sizeForm === 1 ? 256 : 0)
  const base = 2 ** (10 + (windowByte >> 3))
  const window_bytes = isSingle ? content : base + (base / 8) * (windowByte & 7)
  if (window_bytes > MAX_WINDOW)
    throw new Error('the zstd data needs a window over 128 MB: pack it again with a smaller one')
  return { window_bytes, has_checksum: (descriptor & 0x04) !== 0, header: Buffer.concat(header) }
}

/** Takes exactly so many bytes out of chunks of any size. */
class ByteQueue {
  readonly #chunks: AsyncIterator<Uint8Array>
  #chunk: Uint8Array = new Uint8Array()

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#chunk.length === 0) {
      const { value, done } = await this.#chunks.next()
      if (done) return true
      this.#chunk = value
    }
    return false
  }

  async take(count: number): Promise<Uint8Array> {
    if (this.#chunk.length >= count) return this.#cut(count)
    const whole = new Uint8Array(count)
    for (let at = 0; at < count;) {
      if (await this.isAtEnd()) throw new ZstdError('it ends too early')
      const part = this.#cut(Math.min(count - at, this.#chunk.length))
      whole.set(part, at)
      at += part.length
    }
    return whole
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0;) {
      if (await this.isAtEnd()) throw new ZstdError('it ends too early')
      left -= this.#cut(Math.min(left, this.#chunk.length)).length
    }
  }

  #cut(count: number): Uint8Array {
    const part = this.#chunk.subarray(0, count)
    this.#chunk = this.#chunk.subarray(count)
    return part
  }
}
