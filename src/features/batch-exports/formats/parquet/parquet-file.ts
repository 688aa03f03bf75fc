// A Parquet file of several pieces, each of which the store wrote as a file with its row groups. Written in one go, the bytes
// would depend on how many cores took part, and a file without a size limit on how much memory there is.
import { open } from 'node:fs/promises'
import type { StagedFile } from '../../../../platform/event-store/event-store.ts'
import type { FileBuilder } from '../file-builder.ts'
import { HashedFile } from '../hashed-file.ts'
import { addRowGroups, footerParts, MAGIC, readFooter, type Footer } from '../../../../lib/parquet/footer.ts'

export async function startParquetFile(first: StagedFile, signal: AbortSignal): Promise<FileBuilder> {
  const { metadata, starts_at } = await footerOf(first)
  const file = await HashedFile.startWith(first.path, starts_at, signal)
  return {
    get bytes() {
      return file.bytes
    },
    async add(piece) {
      const footer = await footerOf(piece)
      addRowGroups(metadata, footer.metadata, file.bytes - MAGIC.length)
      await file.append(piece.path, MAGIC.length, footer.starts_at, signal)
    },
    async finish() {
      await file.write(footerParts(metadata))
      return await file.finish()
    },
    discard: () => file.discard(),
  }
}

async function footerOf({ path, bytes }: StagedFile): Promise<Footer> {
  const handle = await open(path, 'r')
  try {
    return await readFooter(handle, bytes)
  } finally {
    await handle.close()
  }
}
