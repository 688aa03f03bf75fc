// A file that is written from its beginning to its end, its checksum kept along the way.
import { createHash } from 'node:crypto'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { errorCode } from '../../../lib/error-code.ts'
import { StoreBusy } from '../../../platform/event-store/event-store.ts'
import { readBlocks, type BuiltFile } from './file-builder.ts'

export class HashedFile {
  readonly #path: string
  readonly #handle: FileHandle
  readonly #hash = createHash('sha256')
  #bytes = 0

  constructor(path: string, handle: FileHandle) {
    this.#path = path
    this.#handle = handle
  }

  /** A new one beside that one. */
  static async startBeside(path: string): Promise<HashedFile> {
    const own = ownPath(path)
    return new HashedFile(own, await open(own, 'wx', 0o600))
  }

  /** Takes that file over, up to `end`: a single piece is never copied. */
  static async startWith(path: string, end: number, signal: AbortSignal): Promise<HashedFile> {
    const own = ownPath(path)
    await rename(path, own)
    const file = new HashedFile(own, await open(own, 'r+'))
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
  async append(path: string, start: number, end: number, signal: AbortSignal): Promise<void> {
    const source = await open(path, 'r')
    try {
      for await (const block of readBlocks(source, start, end, signal)) await this.write([block])
    } finally {
      await source.close()
    }
  }

  async write(parts: Uint8Array[]): Promise<void> {
    const start = this.#bytes
    const writing = writeAt(this.#handle, start, parts)
    for (const part of parts) this.#count(part)
    if ((await writing) < this.#bytes - start) throw diskFull()
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

const ownPath = (path: string) => `${path}.part`

/** How many bytes there was room for. */
async function writeAt(handle: FileHandle, start: number, parts: Uint8Array[]): Promise<number> {
  try {
    return (await handle.writev(parts, start)).bytesWritten
  } catch (error) {
    throw errorCode(error) === 'ENOSPC' ? diskFull() : error
  }
}

function diskFull(): StoreBusy {
  return new StoreBusy('The disk on which the export is put together is full.')
}
