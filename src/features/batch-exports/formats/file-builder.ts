// What an output file is made with: staged pieces go in one after another, then it is finished or discarded.
import type { FileHandle } from 'node:fs/promises'
import type { StagedFile } from '../../../platform/event-store/event-store.ts'

export type FileBuilder = {
  /** What it has taken so far, in bytes on the disk. */
  readonly bytes: number
  /** The piece's own file may be used up. */
  add(piece: StagedFile): Promise<void>
  finish(): Promise<BuiltFile>
  discard(): Promise<void>
}

export type BuiltFile = { path: string; bytes: number; sha256: string }

// Hashing one holds the thread for about a fifth of a millisecond.
const BLOCK_BYTES = 256 * 1024

/** The bytes from `start` to `end`, in blocks of a fixed size; each is overwritten by the next. */
export async function* readBlocks(
  handle: FileHandle,
  start: number,
  end: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const buffer = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, Math.max(end - start, 0)))
  for (let position = start; position < end;) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, end - position), position)
    if (bytesRead === 0) throw new Error('a staged file is shorter than it was')
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}
