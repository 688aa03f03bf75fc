// A file to import: which compression and format it has, told by its bytes before its name, and its unpacked bytes.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { pipeline, Readable, type Duplex } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { splitCsvCells } from './csv-cells.ts'
import { decompressZstd } from './zstd/decompress.ts'

export type Compression = 'none' | 'gzip' | 'zstd' | 'brotli'
export type Format = 'JSONLines' | 'CSV' | 'Parquet'

export type InputFile = {
  path: string
  bytes: number
  compression: Compression
  format: Format
  /** Tells one file from another: its size and what it begins with. */
  identity: string
}

/** How much of the file itself has been read, whatever it unpacks to. */
export type ReadSoFar = { bytes: number }

const HEAD_BYTES = 64 * 1024
const IDENTITY_BYTES = 1024 * 1024
const SIGNATURES: readonly (readonly [RegExp, Compression | 'Parquet' | 'lz4' | 'snappy'])[] = [
  [/^50415231/, 'Parquet'],
  [/^1f8b08/, 'gzip'],
  [/^(28b52ffd|5.2a4d18)/, 'zstd'],
  [/^04224d18/, 'lz4'],
  [/^ff060000734e61507059/i, 'snappy'],
]

export async function recogniseFile(path: string): Promise<InputFile> {
  const facts = await stat(path)
  const bytes = facts.size
  if (!facts.isFile()) throw new Error(`${path} is not a file`)
  const start = await readStart(path)
  const identity = createHash('sha256').update(`${bytes}\n`).update(start).digest('hex')
  const found = SIGNATURES.find(([signature]) => signature.test(start.toString('hex', 0, 16)))?.[1]
  if (found === 'Parquet') return { path, bytes, compression: 'none', format: found, identity }
  if (found === 'lz4' || found === 'snappy')
    throw new Error(`${path} is packed with ${found}: gzip, zstd and brotli are supported`)
  const compression = found ?? (/\.br$/i.test(path) ? 'brotli' : 'none')
  const head = await readHead(path, compression)
  return { path, bytes, compression, format: formatOf(path, head), identity }
}

/** The bytes inside the file, unpacked as they are read. */
export function unpackedBytes(
  { path, compression }: Pick<InputFile, 'path' | 'compression'>,
  read: ReadSoFar = { bytes: 0 },
): AsyncIterable<Uint8Array> {
  const packed = counted(createReadStream(path, { highWaterMark: 256 * 1024 }), read)
  switch (compression) {
    case 'none':
      return packed
    case 'gzip':
      return through(packed, createGunzip({ chunkSize: 128 * 1024 }))
    case 'brotli':
      return through(packed, createBrotliDecompress({ chunkSize: 128 * 1024 }))
    case 'zstd':
      return decompressZstd(packed)
  }
}

function through(packed: AsyncIterable<Uint8Array>, unpack: Duplex): AsyncIterable<Uint8Array> {
  // The reader of the last stream hears of every failure.
  return pipeline(Readable.from(packed), unpack, () => undefined)
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  read: ReadSoFar,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    read.bytes += chunk.length
    yield chunk
  }
}

async function readStart(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(IDENTITY_BYTES), 0, IDENTITY_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

async function readHead(path: string, compression: Compression): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of unpackedBytes({ path, compression })) {
      parts.push(chunk)
      size += chunk.length
      if (size >= HEAD_BYTES) break
    }
  } catch (error) {
    // A file that breaks off later is told where it does, after what comes before was taken.
    if (size === 0)
      throw new Error(`${path} cannot be unpacked: ${(error as Error).message}`, { cause: error })
  }
  return Buffer.concat(parts)
}

function formatOf(path: string, head: Buffer): Format {
  if (head.subarray(0, 4).toString('latin1') === 'PAR1')
    throw new Error(`${path} is Parquet inside another compression: unpack it first`)
  if (/^(fffe|feff)/.test(head.toString('hex', 0, 2)))
    throw new Error(`${path} is UTF-16: convert it to UTF-8`)
  const text = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart()
  if (text.startsWith('['))
    throw new Error(`${path} is one JSON list: put one event on each line (jq -c '.[]')`)
  if (text === '' || text.startsWith('{') || /\.(jsonl|ndjson|json)(\.\w+)?$/i.test(path)) return 'JSONLines'
  if (isCsvHeader(text.split('\n', 1)[0]!)) return 'CSV'
  throw new Error(
    `${path} is neither JSONLines nor Parquet, nor CSV whose first line names the columns event and distinct_id`,
  )
}

function isCsvHeader(line: string): boolean {
  const names = splitCsvCells(line)?.cells ?? []
  return names.includes('event') && names.includes('distinct_id')
}
