// Lines through brotli at its fastest, which costs more than everything else of an export together.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { constants, createBrotliCompress } from 'node:zlib'
import type { StagedFile } from '../../../platform/event-store/event-store.ts'
import { readBlocks, type BuiltFile, type FileBuilder } from './file-builder.ts'

// What a block becomes comes out in one part: each takes a turn of the thread pool and of the event loop.
const OPTIONS = { chunkSize: 256 * 1024, params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

class BrotliFile implements FileBuilder {
  readonly #path: string
  readonly #handle: FileHandle
  readonly #zip = createBrotliCompress(OPTIONS)
  readonly #signal: AbortSignal
  readonly #hash = createHash('sha256')
  /** Compressed and not yet in the file. */
  #waiting: Buffer[] = []
  #bytes = 0
  #written = 0

  constructor(path: string, handle: FileHandle, signal: AbortSignal) {
    this.#path = path
    this.#handle = handle
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
export async function startBrotliFile(first: StagedFile, signal: AbortSignal): Promise<FileBuilder> {
  const path = `${first.path}.part`
  const file = new BrotliFile(path, await open(path, 'wx', 0o600), signal)
  try {
    await file.add(first)
    return file
  } catch (error) {
    await file.discard()
    throw error
  }
}
