// A delivered file, read once to its end: how long it is, what it hashes to, and how many rows are in it.
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { countParquetRows } from '../../../platform/event-store/duckdb/parquet-file.ts'
import type { Encoding } from '../formats/encoding.ts'

export type FileContent = { rows: number; bytes: number; sha256: string }

const [LINE_FEED, QUOTE] = [0x0a, 0x22]

export async function readContent(
  chunks: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): Promise<FileContent> {
  const hash = createHash('sha256')
  let bytes = 0
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      bytes += chunk.length
      done(null, chunk)
    },
  })
  const source = Readable.from(chunks)
  const rows =
    encoding.format === 'Parquet'
      ? await rowsOfParquet(source, measure)
      : await rowsOfLines(source, measure, encoding)
  return { rows, bytes, sha256: hash.digest('hex') }
}

async function rowsOfLines(
  source: Readable,
  measure: Transform,
  { format, compression, has_header }: Encoding,
): Promise<number> {
  let rows = 0
  const unpacked =
    compression === 'gzip'
      ? createGunzip()
      : compression === 'brotli'
        ? createBrotliDecompress()
        : new PassThrough()
  const countIn = format === 'CSV' ? csvRecordCounter() : countLines
  await pipeline(source, measure, unpacked, async (texts: AsyncIterable<Buffer>) => {
    for await (const text of texts) rows += countIn(text)
  })
  return has_header ? Math.max(0, rows - 1) : rows
}

function countLines(text: Buffer): number {
  let lines = 0
  for (let at = text.indexOf(LINE_FEED); at !== -1; at = text.indexOf(LINE_FEED, at + 1)) lines++
  return lines
}

/** Called with one chunk after the other. Line feeds within quotes belong to a field; a doubled quote closes and opens. */
function csvRecordCounter(): (text: Buffer) => number {
  let isQuoted = false
  return (text) => {
    let records = 0
    for (let at = 0; at < text.length; at++) {
      if (text[at] === QUOTE) isQuoted = !isQuoted
      else if (text[at] === LINE_FEED && !isQuoted) records++
    }
    return records
  }
}

/** Its table of contents is at the end, so it must be on the disk as a whole. */
async function rowsOfParquet(source: Readable, measure: Transform): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-verify-'))
  try {
    const path = join(folder, 'file.parquet')
    await pipeline(source, measure, createWriteStream(path))
    return await countParquetRows(path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
