// Lines through brotli, at high levels the dearest part of an export by far.
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { constants, createBrotliCompress, type BrotliCompress } from 'node:zlib'
import type { StagedFile } from '../../../platform/event-store/event-store.ts'
import { readBlocks, type BuiltFile, type FileBuilder } from './file-builder.ts'
import { HashedFile } from './hashed-file.ts'

// What a block becomes comes out in one part: each takes a turn of the thread pool and of the event loop.
const CHUNK_BYTES = 256 * 1024
/** Files are 11 to 16 % smaller than at level 0; from level 2 on it is half as fast (decision 27). */
const DEFAULT_LEVEL = 1

class BrotliFile implements FileBuilder {
  readonly #file: HashedFile
  readonly #zip: BrotliCompress
  readonly #signal: AbortSignal
  /** Compressed and not yet in the file. */
  #waiting: Buffer[] = []
  #bytes = 0

  constructor(file: HashedFile, signal: AbortSignal, level: number) {
    this.#file = file
    this.#signal = signal
    this.#zip = createBrotliCompress({
      chunkSize: CHUNK_BYTES,
      params: { [constants.BROTLI_PARAM_QUALITY]: level },
    })
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
      await this.#compressAll()
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
    return await this.#file.finish()
  }

  async discard(): Promise<void> {
    this.#zip.destroy()
    await this.#file.discard()
  }

  /** Returns once everything that comes out of it has come out. */
  #compress(block: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#zip.write(block, (error) => (error ? reject(error) : resolve()))
    })
  }

  /** At higher levels it holds up to 4 MB back otherwise, and where the file ends is told by its bytes. */
  #compressAll(): Promise<void> {
    return new Promise((resolve) => this.#zip.flush(constants.BROTLI_OPERATION_FLUSH, resolve))
  }

  async #flush(): Promise<void> {
    const parts = this.#waiting
    this.#waiting = []
    if (parts.length > 0) await this.#file.write(parts)
  }
}

/** Beside the piece it begins with; that one is left as it is. */
export async function startBrotliFile(
  first: StagedFile,
  signal: AbortSignal,
  level = DEFAULT_LEVEL,
): Promise<FileBuilder> {
  const file = new BrotliFile(await HashedFile.startBeside(first.path), signal, level)
  try {
    await file.add(first)
    return file
  } catch (error) {
    await file.discard()
    throw error
  }
}
