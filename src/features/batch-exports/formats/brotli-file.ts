// Lines through brotli at its fastest, which costs more than everything else of an export together.
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { constants, createBrotliCompress } from 'node:zlib'
import type { StagedFile } from '../../../platform/event-store/event-store.ts'
import { readBlocks, type BuiltFile, type FileBuilder } from './file-builder.ts'
import { HashedFile } from './hashed-file.ts'

// What a block becomes comes out in one part: each takes a turn of the thread pool and of the event loop.
const OPTIONS = { chunkSize: 256 * 1024, params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

class BrotliFile implements FileBuilder {
  readonly #file: HashedFile
  readonly #zip = createBrotliCompress(OPTIONS)
  readonly #signal: AbortSignal
  /** Compressed and not yet in the file. */
  #waiting: Buffer[] = []
  #bytes = 0

  constructor(file: HashedFile, signal: AbortSignal) {
    this.#file = file
    this.#signal = signal
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

  async #flush(): Promise<void> {
    const parts = this.#waiting
    this.#waiting = []
    if (parts.length > 0) await this.#file.write(parts)
  }
}

/** Beside the piece it begins with; that one is left as it is. */
export async function startBrotliFile(first: StagedFile, signal: AbortSignal): Promise<FileBuilder> {
  const file = new BrotliFile(await HashedFile.startBeside(first.path), signal)
  try {
    await file.add(first)
    return file
  } catch (error) {
    await file.discard()
    throw error
  }
}
