// Files laid one behind the other. The first becomes the result itself, so that a single piece is never copied.
import { createHash } from 'node:crypto'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import type { StagedFile } from '../../../platform/event-store/event-store.ts'
import { readBlocks, type BuiltFile, type FileBuilder } from './file-builder.ts'

export class AppendedFile {
  readonly #path: string
  readonly #handle: FileHandle
  readonly #signal: AbortSignal
  readonly #hash = createHash('sha256')
  #bytes = 0

  private constructor(path: string, handle: FileHandle, signal: AbortSignal) {
    this.#path = path
    this.#handle = handle
    this.#signal = signal
  }

  /** Takes the file over, up to `end`. */
  static async startWith(path: string, end: number, signal: AbortSignal): Promise<AppendedFile> {
    const own = `${path}.part`
    await rename(path, own)
    const file = new AppendedFile(own, await open(own, 'r+'), signal)
    try {
      await file.#handle.truncate(end)
      for await (const block of readBlocks(file.#handle, 0, end, signal)) file.#count(block)
      return file
    } catch (error) {
      await file.discard()
      throw error
    }
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The bytes of another file from `start` to `end`. */
  async append(path: string, start: number, end: number): Promise<void> {
    const source = await open(path, 'r')
    try {
      for await (const block of readBlocks(source, start, end, this.#signal)) await this.write(block)
    } finally {
      await source.close()
    }
  }

  async write(block: Uint8Array): Promise<void> {
    await this.#handle.write(block, 0, block.length, this.#bytes)
    this.#count(block)
  }

  async finish(): Promise<BuiltFile> {
    await this.#handle.close()
    return { path: this.#path, bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }

  async discard(): Promise<void> {
    await this.#handle.close()
    await rm(this.#path, { force: true })
  }

  #count(block: Uint8Array): void {
    this.#hash.update(block)
    this.#bytes += block.length
  }
}

/** Lines as they are. */
export async function startPlainFile(first: StagedFile, signal: AbortSignal): Promise<FileBuilder> {
  const file = await AppendedFile.startWith(first.path, first.bytes, signal)
  return {
    get bytes() {
      return file.bytes
    },
    add: (piece) => file.append(piece.path, 0, piece.bytes),
    finish: () => file.finish(),
    discard: () => file.discard(),
  }
}
