// A piece that is a file by itself: it goes on as it is, and nobody keeps it, so it has no checksum.
import { rename, rm } from 'node:fs/promises'
import type { StagedFile } from '../../../platform/event-store/event-store.ts'
import type { FileBuilder } from './file-builder.ts'

export async function startSinglePiece({ path, bytes }: StagedFile): Promise<FileBuilder> {
  const own = `${path}.part`
  await rename(path, own)
  return {
    bytes,
    add: () => Promise.reject(new Error('a single piece takes no other')),
    finish: () => Promise.resolve({ path: own, bytes, sha256: '' }),
    discard: () => rm(own, { force: true }),
  }
}
