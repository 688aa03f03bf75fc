// How rows become files: the format, the compression, and where one file ends and the next begins.

export const FILE_FORMATS = ['JSONLines', 'Parquet', 'CSV'] as const
export type FileFormat = (typeof FILE_FORMATS)[number]
export const COMPRESSIONS = ['gzip', 'brotli', 'zstd', 'lz4', 'snappy'] as const
export type Compression = (typeof COMPRESSIONS)[number]

export type Encoding = {
  /** CopyText is on its way into a table: every piece is a file of its own, so that none is copied. */
  format: FileFormat | 'CopyText'
  /** Parquet compresses inside the file; the others as a whole, by gzip or brotli. */
  compression: Compression | null
  /** Null or left out: the default, told in gzip-file.ts and brotli-file.ts; for Parquet the engine's own. */
  compression_level?: number | null
  /** Every file begins with the names of the columns: for CSV alone. */
  has_header?: boolean
  /** Soft: a file ends with the stretch of rows that takes it there. Null: everything in one file. */
  max_bytes: number | null
  /** Strict. */
  max_rows: number | null
}

/** On this machine's disk, complete, and gone once it was delivered. */
export type OutputFile = {
  /** From 0 on. */
  index: number
  path: string
  rows: number
  bytes: number
  /** Hex; empty for CopyText, which nobody keeps. */
  sha256: string
}
