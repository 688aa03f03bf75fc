// Lines through gzip or brotli. Both at their fastest: they cost more than everything else of an export together.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { constants, createBrotliCompress, createGzip, type BrotliCompress, type Gzip } from 'node:zlib'
import type { StagedFile } from '../../../platform/event-store/event-store.ts'
import { readBlocks, type BuiltFile, type FileBuilder } from './file-builder.ts'

type StreamCompression = 'gzip' | 'brotli'

// What a block becomes comes out in one part: each takes a turn of the thread pool and of the event loop.
const PART_BYTES = 256 * 1024

const OPEN: Record<StreamCompression, () => Gzip | BrotliCompress> = {
  gzip: () => createGzip({ level: 1, chunkSize: PART_BYTES }),
  brotli: () =>
    createBrotliCompress({ chunkSize: PART_BYTES, params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
}

class CompressedFile implements FileBuilder {
  readonly #path: string
  readonly #handle: FileHandle
  readonly #zip: Gzip | BrotliCompress
  readonly #signal: AbortSignal
  readonly #hash = createHash('sha256')
  /** Compressed and not yet in the file. */
  #waiting: Buffer[] = []
  #bytes = 0
  #written = 0

  constructor(path: string, handle: FileHandle, compression: StreamCompression, signal: AbortSignal) {
    this.#path = path
    this.#handle = handle
    this.#signal = signal
    this.#zip = OPEN[compression]()
    this.#zip.on('data', (part: Buffer) => {
      this.#waiting.push(part)
      this.#bytes += part.length
    })
  }

  get bytes(): number {
    return this.#bytes + this.#zip.readableLength
  }

  async add(piece: StagedFile): Promise<void> {
    const source = await open(piece.path, 'r')
    try {
      // While one block is compressed, what became of the last is written.
      let writing = Promise.resolve()
      for await (const block of readBlocks(source, 0, piece.bytes, this.#signal)) {
        await this.#compress(block)
        await writing
        writing = this.#flush()
        writing.catch(() => undefined)
      }
      await writing
    } finally {
      await source.close()
    }
  }

  async finish(): Promise<BuiltFile> {
    const end = once(this.#zip, 'end')
    this.#zip.end()
    await end
    await this.#flush()
    await this.#handle.close()
    return { path: this.#path, bytes: this.#written, sha256: this.#hash.digest('hex') }
  }

  async discard(): Promise<void> {
    this.#zip.destroy()
    await this.#handle.close()
    await rm(this.#path, { force: true })
  }

  /** Returns once everything that comes out of it has come out. */
  #compress(block: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#zip.write(block, (error) => (error ? reject(error) : resolve()))
    })
  }

  async #flush(): Promise<void> {
    const parts = this.#waiting
    this.#waiting = []
    for (const part of parts) {
      await this.#handle.write(part, 0, part.length, this.#written)
      this.#hash.update(part)
      this.#written += part.length
    }
  }
}

/** Beside the piece it begins with; that one is left as it is. */
export async function startCompressedFile(
  first: StagedFile,
  compression: StreamCompression,
  signal: AbortSignal,
): Promise<FileBuilder> {
  const path = `${first.path}.part`
  const file = new CompressedFile(path, await open(path, 'wx', 0o600), compression, signal)
  try {
    await file.add(first)
    return file
  } catch (error) {
    await file.discard()
    throw error
  }
}
