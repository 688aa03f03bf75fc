// From a plan to staged files. How many rows each holds is told by the bytes of an earlier one, or of the rows themselves:
// never by the machine.
import { rm } from 'node:fs/promises'
import type {
  EventStore,
  ExportFormat,
  PositionBlock,
  StagedFile,
} from '../../../platform/event-store/event-store.ts'
import type { ExportRows } from '../../../platform/event-store/export-rows.ts'
import type { Encoding } from './encoding.ts'
import { MAX_PIECE_ROWS } from './plan.ts'
import { pieceTaker } from './take-pieces.ts'

/** Before anything is known of their size. */
const FIRST_ROWS = 5_000
// A statement takes some milliseconds before its first row.
const MAX_PIECE_BYTES = 32 * 1024 * 1024
/** So many are being written while one is put into its file: what the store does at once. */
const AHEAD = 2
/** A table takes rows in slower than one statement writes them, and may be on this machine: it wants a core for itself. */
const AHEAD_OF_TABLE = 1
/** A file passes its limit by one piece at most. */
const PIECES_PER_FILE = 8
/** What gzip and brotli make of lines, roughly. */
const COMPRESSED_TO = 1 / 4

/** Staged in order; `stop` is called when whoever reads them stops early, so that work under way ends soon. */
export async function* stagePieces(
  store: EventStore,
  rows: ExportRows,
  pieces: readonly PositionBlock[],
  encoding: Encoding,
  { signal, stop }: { signal: AbortSignal; stop: () => void },
): AsyncGenerator<StagedFile, void, void> {
  const take = pieceTaker(store, rows, pieces, encoding.format === 'Parquet', signal)
  const format = storeFormat(encoding)
  const most = Math.min(MAX_PIECE_ROWS, encoding.max_rows ?? Infinity)
  const ahead = encoding.format === 'CopyText' ? AHEAD_OF_TABLE : AHEAD
  const underway: Promise<StagedFile>[] = []
  const begin = async (max_rows: number): Promise<boolean> => {
    const piece = await take(max_rows)
    if (piece === null) return false
    const staging = store.exportRows(rows, piece, format, signal)
    // Its failure is told when its turn comes.
    staging.catch(() => undefined)
    underway.push(staging)
    return true
  }
  try {
    await begin(Math.min(FIRST_ROWS, most))
    while (underway.length > 0) {
      const staged = await underway[0]!
      const size = Math.min(most, rowsPerPiece(encoding, staged))
      while (underway.length <= ahead && (await begin(size))) continue
      void underway.shift()
      // People and sessions may have changed since they were counted.
      if (staged.rows > 0) yield staged
      else await rm(staged.path)
    }
  } finally {
    if (underway.length > 0) stop()
    for (const result of await Promise.allSettled(underway)) {
      if (result.status === 'fulfilled') await rm(result.value.path, { force: true })
    }
  }
}

function rowsPerPiece(encoding: Encoding, { rows, bytes }: StagedFile): number {
  if (rows === 0) return FIRST_ROWS
  return Math.max(1, Math.floor((maxPieceBytes(encoding) * rows) / bytes))
}

function maxPieceBytes({ format, compression, max_bytes }: Encoding): number {
  if (max_bytes === null) return MAX_PIECE_BYTES
  const shrinks = format !== 'Parquet' && compression !== null
  return Math.min(MAX_PIECE_BYTES, max_bytes / PIECES_PER_FILE / (shrinks ? COMPRESSED_TO : 1))
}

const LINES = { JSONLines: 'json-lines', CSV: 'csv', CopyText: 'copy-text' } as const

function storeFormat({ format, compression, compression_level }: Encoding): ExportFormat {
  if (format === 'Parquet')
    return { kind: 'parquet', compression: compression ?? 'none', level: compression_level ?? undefined }
  return { kind: LINES[format] }
}
