// Rows to files. The store writes them piece by piece (plan.ts, take-pieces.ts, stage-pieces.ts), pieces are put together
// to files (file-builder.ts and those beside it), and files go out one by one:
//
//   positions → pieces of up to 50,000 rows → staged files → output files → the destination
//
// While a file is delivered the next is put together, and while a piece is put in the next one or two are staged: no more
// than that lies on the disk. COPY text goes out piece by piece. Where pieces and files end, and every byte of them,
// depends on the rows and the encoding alone.
import { rm } from 'node:fs/promises'
import type { EventStore, PositionBlock, StagedFile } from '../../../platform/event-store/event-store.ts'
import type { ExportRows } from '../../../platform/event-store/export-rows.ts'
import { startBrotliFile } from './brotli-file.ts'
import { startWithHeader } from './csv-header.ts'
import type { Encoding, OutputFile } from './encoding.ts'
import type { FileBuilder } from './file-builder.ts'
import { startGzipFile } from './gzip-file.ts'
import { oneAhead } from './one-ahead.ts'
import { startParquetFile } from './parquet/parquet-file.ts'
import { startPlainFile } from './plain-file.ts'
import { startSinglePiece } from './single-piece.ts'
import { stagePieces } from './stage-pieces.ts'

/**
 * A file is on the disk until the next one is asked for, or none any more. Whoever stops early leaves nothing behind:
 * work under way is interrupted.
 */
export async function* encode(
  store: EventStore,
  rows: ExportRows,
  pieces: readonly PositionBlock[],
  encoding: Encoding,
  signal: AbortSignal,
): AsyncGenerator<OutputFile, void, void> {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  const both = AbortSignal.any([signal, stopping.signal])
  const staged = stagePieces(store, rows, pieces, encoding, { signal: both, stop })
  const startBare = (first: StagedFile) => startFile(encoding, first, both)
  const start = encoding.has_header ? startWithHeader(rows.columns, startBare) : startBare
  for await (const file of oneAhead(buildFiles(staged, encoding, start), stop, remove)) {
    try {
      yield file
    } finally {
      await remove(file)
    }
  }
}

async function* buildFiles(
  staged: AsyncIterable<StagedFile>,
  { format, max_bytes, max_rows }: Encoding,
  start: (first: StagedFile) => Promise<FileBuilder>,
): AsyncGenerator<OutputFile, void, void> {
  let file: FileBuilder | null = null
  let [index, rows] = [0, 0]
  const isFull = ({ bytes }: FileBuilder) =>
    format === 'CopyText' || (max_bytes !== null && bytes >= max_bytes)
  const finish = async (builder: FileBuilder): Promise<OutputFile> => {
    const built = { index: index++, rows, ...(await builder.finish()) }
    file = null
    rows = 0
    return built
  }
  try {
    for await (const piece of staged) {
      try {
        if (file && max_rows !== null && rows + piece.rows > max_rows) yield await finish(file)
        if (file) await file.add(piece)
        else file = await start(piece)
        rows += piece.rows
      } finally {
        await remove(piece)
      }
      if (isFull(file)) yield await finish(file)
    }
    if (file) yield await finish(file)
  } finally {
    await (file as FileBuilder | null)?.discard()
  }
}

function startFile(
  { format, compression, compression_level }: Encoding,
  first: StagedFile,
  signal: AbortSignal,
): Promise<FileBuilder> {
  if (format === 'CopyText') return startSinglePiece(first)
  if (format === 'Parquet') return startParquetFile(first, signal)
  if (compression === null) return startPlainFile(first, signal)
  const level = compression_level ?? undefined
  if (compression === 'gzip') return startGzipFile(first, signal, level)
  if (compression === 'brotli') return startBrotliFile(first, signal, level)
  throw new Error(`${format} cannot be compressed by ${compression}`)
}

async function remove({ path }: { path: string }): Promise<void> {
  await rm(path, { force: true })
}
