// Lines as they are.
import type { StagedFile } from '../../../platform/event-store/event-store.ts'
import type { FileBuilder } from './file-builder.ts'
import { HashedFile } from './hashed-file.ts'

export async function startPlainFile(first: StagedFile, signal: AbortSignal): Promise<FileBuilder> {
  const file = await HashedFile.startWith(first.path, first.bytes, signal)
  return {
    get bytes() {
      return file.bytes
    },
    add: (piece) => file.append(piece.path, 0, piece.bytes, signal),
    finish: () => file.finish(),
    discard: () => file.discard(),
  }
}
