// The bytes of an answer on their way into a file, and how many rows they are.
import { createWriteStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readFooter, rowsIn } from '../../../../lib/parquet/footer.ts'
import type { ExportFormat, StagedFile } from '../../event-store.ts'

const [LINE_FEED, QUOTE] = [10, 34]

export async function stageFile(
  path: string,
  answer: Readable,
  format: ExportFormat['kind'],
  signal: AbortSignal,
): Promise<StagedFile> {
  const lines = { count: 0 }
  const counted = format === 'csv' ? countRecords(lines) : countLines(lines)
  await pipeline(answer, counted, createWriteStream(path, { flags: 'wx' }), { signal })
  const bytes = (await stat(path)).size
  return { path, rows: format === 'parquet' ? await parquetRows(path, bytes) : lines.count, bytes }
}

function countLines(lines: { count: number }) {
  return async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) lines.count++
      yield chunk
    }
  }
}

/** Lines of CSV may end within quotes. A quote in a text is written twice, and so changes nothing. */
function countRecords(lines: { count: number }) {
  return async function* (chunks: AsyncIterable<Buffer>) {
    let isQuoted = false
    for await (const chunk of chunks) {
      for (const byte of chunk) {
        if (byte === QUOTE) isQuoted = !isQuoted
        else if (byte === LINE_FEED && !isQuoted) lines.count++
      }
      yield chunk
    }
  }
}

async function parquetRows(path: string, bytes: number): Promise<number> {
  const handle = await open(path, 'r')
  try {
    return rowsIn((await readFooter(handle, bytes)).metadata)
  } finally {
    await handle.close()
  }
}
