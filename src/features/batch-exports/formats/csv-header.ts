// The first line of a CSV file: the names of its columns. It goes into every file as a piece of its own, without rows, so
// that compression and splitting need not know of it.
import { rm } from 'node:fs/promises'
import type { StagedFile } from '../../../platform/event-store/event-store.ts'
import type { ExportColumn } from '../../../platform/event-store/export-rows.ts'
import type { FileBuilder } from './file-builder.ts'
import { HashedFile } from './hashed-file.ts'

type StartFile = (first: StagedFile) => Promise<FileBuilder>

export function startWithHeader(columns: readonly ExportColumn[], start: StartFile): StartFile {
  const line = Buffer.from(`${columns.map(({ name }) => csvName(name)).join(',')}\r\n`)
  return async (first) => {
    const file = await startAndRemove(await stageBeside(first.path, line), start)
    try {
      await file.add(first)
      return file
    } catch (error) {
      await file.discard()
      throw error
    }
  }
}

async function startAndRemove(header: StagedFile, start: StartFile): Promise<FileBuilder> {
  try {
    return await start(header)
  } finally {
    await rm(header.path, { force: true })
  }
}

/** RFC 4180, as line-sql.ts of the store writes the fields below. */
function csvName(name: string): string {
  return name === '' || /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name
}

async function stageBeside(path: string, content: Uint8Array): Promise<StagedFile> {
  const file = await HashedFile.startBeside(path)
  try {
    await file.write([content])
    return { ...(await file.finish()), rows: 0 }
  } catch (error) {
    await file.discard()
    throw error
  }
}
