// The footer of a Parquet file: which row groups there are and where. Row groups of several files can stand in one file
// when their footers become one, with every offset moved by as much as the bytes were.
import type { FileHandle } from 'node:fs/promises'
import { readStruct, structParts, writeStruct, type ThriftList, type ThriftStruct } from './thrift.ts'

/** At both ends of a file. */
export const MAGIC = Buffer.from('PAR1')
const TAIL_BYTES = 4 + MAGIC.length

// Field ids of the format (parquet.thrift).
const FILE = { num_rows: 3, row_groups: 4 }
const ROW_GROUP = { columns: 1, file_offset: 5, ordinal: 7 }
const COLUMN = { file_offset: 2, meta_data: 3, offset_index_offset: 4, column_index_offset: 6 }
const COLUMN_META = {
  data_page_offset: 9,
  index_page_offset: 10,
  dictionary_page_offset: 11,
  bloom_filter_offset: 14,
}

export type Footer = {
  metadata: ThriftStruct
  /** Where the row groups end. */
  starts_at: number
}

export async function readFooter(handle: FileHandle, bytes: number): Promise<Footer> {
  const tail = Buffer.alloc(TAIL_BYTES)
  await handle.read(tail, 0, TAIL_BYTES, bytes - TAIL_BYTES)
  if (!tail.subarray(4).equals(MAGIC)) throw new Error('not a Parquet file')
  const length = tail.readUInt32LE(0)
  const starts_at = bytes - TAIL_BYTES - length
  const footer = Buffer.alloc(length)
  await handle.read(footer, 0, length, starts_at)
  return { metadata: readStruct(footer), starts_at }
}

export function rowsIn(metadata: ThriftStruct): number {
  return Number(metadata.get(FILE.num_rows)!.value as bigint)
}

/** The footer with the length and the magic bytes that end a file. */
export function footerParts(metadata: ThriftStruct): Uint8Array[] {
  const parts = structParts(metadata)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(parts.reduce((sum, part) => sum + part.length, 0))
  return [...parts, length, MAGIC]
}

/**
 * Adds the row groups of `other` to those of `metadata`; their bytes have moved by `moved`. They are kept as they will
 * be written: as a tree, those of a thousand pieces would take a hundred megabytes.
 */
export function addRowGroups(metadata: ThriftStruct, other: ThriftStruct, moved: number): void {
  const groups = listIn(metadata, FILE.row_groups)
  for (const group of listIn(other, FILE.row_groups).items as ThriftStruct[]) {
    moveRowGroup(group, BigInt(moved))
    change(group, ROW_GROUP.ordinal, () => BigInt(groups.items.length))
    groups.items.push(writeStruct(group))
  }
  const added = other.get(FILE.num_rows)!.value as bigint
  change(metadata, FILE.num_rows, (rows) => rows + added)
}

function moveRowGroup(group: ThriftStruct, moved: bigint): void {
  // Offsets that are not known are written as 0.
  const move = (offset: bigint) => (offset === 0n ? 0n : offset + moved)
  change(group, ROW_GROUP.file_offset, move)
  for (const column of listIn(group, ROW_GROUP.columns).items as ThriftStruct[]) {
    for (const id of [COLUMN.file_offset, COLUMN.offset_index_offset, COLUMN.column_index_offset]) {
      change(column, id, move)
    }
    const meta = column.get(COLUMN.meta_data)!.value as ThriftStruct
    for (const id of Object.values(COLUMN_META)) change(meta, id, move)
  }
}

function listIn(struct: ThriftStruct, id: number): ThriftList {
  return struct.get(id)!.value as ThriftList
}

/** Changes a field if it is there: most are optional. */
function change(struct: ThriftStruct, id: number, by: (value: bigint) => bigint): void {
  const field = struct.get(id)
  if (field) field.value = by(field.value as bigint)
}
