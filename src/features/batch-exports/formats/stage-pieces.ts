// From a plan to staged files: how many rows each holds is told by the bytes of the one before, hence by the rows alone.
import { rm } from 'node:fs/promises'
import type {
  EventStore,
  ExportFormat,
  ExportRows,
  PositionBlock,
  StagedFile,
} from '../../../platform/event-store/event-store.ts'
import type { Encoding } from './encoding.ts'
import { MAX_PIECE_ROWS } from './plan.ts'
import { pieceTaker } from './take-pieces.ts'

/** Before anything is known of their size. */
const FIRST_ROWS = 5_000
// Sorted in memory by the engine; Parquet packs several times as much into a byte.
const MAX_PIECE_BYTES = 64 * 1024 * 1024
const MAX_PARQUET_BYTES = 16 * 1024 * 1024
/** A file passes its limit by one piece at most. */
const PIECES_PER_FILE = 8
/** What gzip and brotli make of JSON, roughly. */
const COMPRESSED_TO = 1 / 4

export async function* stagePieces(
  store: EventStore,
  rows: ExportRows,
  pieces: readonly PositionBlock[],
  encoding: Encoding,
  signal: AbortSignal,
): AsyncGenerator<StagedFile, void, void> {
  const take = pieceTaker(store, rows, pieces, signal)
  const format = storeFormat(encoding)
  const most = Math.min(MAX_PIECE_ROWS, encoding.max_rows ?? Infinity)
  let size = Math.min(FIRST_ROWS, most)
  for (let piece = await take(size); piece !== null; piece = await take(size)) {
    const staged = await store.exportRows(rows, piece, format, signal)
    // People and sessions may have changed since they were counted.
    if (staged.rows === 0) {
      await rm(staged.path)
      continue
    }
    const bytes_per_row = staged.bytes / staged.rows
    size = Math.min(most, Math.max(1, Math.floor(maxPieceBytes(encoding) / bytes_per_row)))
    yield staged
  }
}

function maxPieceBytes({ format, compression, max_bytes }: Encoding): number {
  const most = format === 'Parquet' ? MAX_PARQUET_BYTES : MAX_PIECE_BYTES
  if (max_bytes === null) return most
  const shrinks = format !== 'Parquet' && compression !== null
  return Math.min(most, max_bytes / PIECES_PER_FILE / (shrinks ? COMPRESSED_TO : 1))
}

const LINES = { JSONLines: 'json-lines', CopyText: 'copy-text', CSV: 'csv' } as const

export function storeFormat({ format, compression }: Encoding): ExportFormat {
  if (format === 'Parquet') return { kind: 'parquet', compression: compression ?? 'none' }
  return { kind: LINES[format] }
}
