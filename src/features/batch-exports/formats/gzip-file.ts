// Lines through gzip, at high levels the dearest part of an export. So blocks are compressed side by side, each for itself
// and up to a byte's end, and laid one behind the other they are one stream.
import { open, type FileHandle } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, type ZlibOptions } from 'node:zlib'
import type { StagedFile } from '../../../platform/event-store/event-store.ts'
import type { BuiltFile, FileBuilder } from './file-builder.ts'
import { HashedFile } from './hashed-file.ts'

const BLOCK_BYTES = 1024 * 1024
// What a block becomes comes out in one part: each takes a turn of the thread pool and of the event loop.
const DEFLATE = { chunkSize: 256 * 1024, finishFlush: constants.Z_SYNC_FLUSH }
/** As fast as level 1, and files are smaller; from level 4 on it is half as fast (decision 27). */
const DEFAULT_LEVEL = 2
/** The pool has four threads for everybody. */
const LANES = Math.min(3, availableParallelism())
/** Magic, deflate, no name and no time, of an unknown system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff])
/** A last block with nothing in it. */
const END = Buffer.from([3, 0])

const compress = promisify<Buffer, ZlibOptions, Buffer>(deflateRaw)

class GzipFile implements FileBuilder {
  readonly #file: HashedFile
  readonly #signal: AbortSignal
  readonly #options: ZlibOptions
  readonly #under_way: Promise<Buffer>[] = []
  /** For blocks to come: a new one for each would be garbage faster than anybody collects it. */
  readonly #unused: Buffer[] = []
  #crc = 0
  #length = 0

  constructor(file: HashedFile, signal: AbortSignal, level: number) {
    this.#file = file
    this.#signal = signal
    this.#options = { ...DEFLATE, level }
  }

  get bytes(): number {
    return this.#file.bytes
  }

  begin(): Promise<void> {
    return this.#file.write([HEADER])
  }

  async add(piece: StagedFile): Promise<void> {
    const source = await open(piece.path, 'r')
    try {
      for (let at = 0; at < piece.bytes; at += BLOCK_BYTES) {
        this.#signal.throwIfAborted()
        const buffer = this.#unused.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES)
        const block = buffer.subarray(0, piece.bytes - at)
        await fill(block, source, at)
        this.#start(block, buffer)
        if (this.#under_way.length >= LANES) await this.#writeNext()
      }
      // All of it: where the file ends is told by its bytes.
      while (this.#under_way.length > 0) await this.#writeNext()
    } finally {
      await source.close()
    }
  }

  async finish(): Promise<BuiltFile> {
    const sums = Buffer.alloc(8)
    sums.writeUInt32LE(this.#crc, 0)
    sums.writeUInt32LE(this.#length, 4)
    await this.#file.write([END, sums])
    return await this.#file.finish()
  }

  async discard(): Promise<void> {
    await Promise.allSettled(this.#under_way)
    await this.#file.discard()
  }

  #start(block: Buffer, buffer: Buffer): void {
    const compressed = compress(block, this.#options).finally(() => this.#unused.push(buffer))
    // Its failure is told when its turn comes.
    compressed.catch(() => undefined)
    this.#under_way.push(compressed)
    this.#crc = crc32(block, this.#crc)
    this.#length = (this.#length + block.length) >>> 0
  }

  async #writeNext(): Promise<void> {
    await this.#file.write([await this.#under_way.shift()!])
  }
}

async function fill(block: Buffer, source: FileHandle, start: number): Promise<void> {
  for (let read = 0; read < block.length;) {
    const { bytesRead } = await source.read(block, read, block.length - read, start + read)
    if (bytesRead === 0) throw new Error('a staged file is shorter than it was')
    read += bytesRead
  }
}

/** Beside the piece it begins with; that one is left as it is. */
export async function startGzipFile(
  first: StagedFile,
  signal: AbortSignal,
  level = DEFAULT_LEVEL,
): Promise<FileBuilder> {
  const file = new GzipFile(await HashedFile.startBeside(first.path), signal, level)
  try {
    await file.begin()
    await file.add(first)
    return file
  } catch (error) {
    await file.discard()
    throw error
  }
}
