// A record of the journal: one batch of writes, whole or not there. Behind a mark, two lengths and a checksum comes the
// head, JSON that says which project has how many events from which position on; then, section by section, what each
// project wrote.
import { crc32 } from 'node:zlib'
import type { Signs } from './sign.ts'

export type SectionHead = {
  project_id: number
  /** Events in the section, those left out among them. */
  count: number
  /** Its first event has the position after this one. */
  seq_from: number
  /** Places of the events that were stored before and are left out. */
  repeats: readonly number[]
  bytes: number
}

export type RecordHead = {
  /** Rises by one with each record, over all files. */
  number: number
  /** Microseconds since 1970. */
  inserted_at: bigint
  copies_position: bigint
  /** Projects deleted by this record; in the first of a file, all that ever were. */
  deleted: readonly number[]
  sections: readonly SectionHead[]
  /** The folder's (sign.ts). Older versions wrote none. */
  sign?: string | undefined
}

export type FoundRecord = {
  head: RecordHead
  /** Where the first section begins. */ body: number
  end: number
}

const MARK = 0x4c53_4a31
const PREFIX_BYTES = 16

export function encodeRecord(head: RecordHead, sections: readonly Uint8Array[]): Uint8Array[] {
  const text = Buffer.from(
    JSON.stringify(head, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  )
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(MARK, 0)
  prefix.writeUInt32BE(text.length, 4)
  prefix.writeUInt32BE(
    sections.reduce((sum, section) => sum + section.length, 0),
    8,
  )
  let sum = crc32(text, crc32(prefix.subarray(0, 12)))
  for (const section of sections) sum = crc32(section, sum)
  prefix.writeUInt32BE(sum, 12)
  return [prefix, text, ...sections]
}

/** Null when there is no whole record at `offset`. */
export function readRecord(file: Buffer, offset: number): FoundRecord | null {
  if (offset + PREFIX_BYTES > file.length || file.readUInt32BE(offset) !== MARK) return null
  const head_at = offset + PREFIX_BYTES
  const body = head_at + file.readUInt32BE(offset + 4)
  const end = body + file.readUInt32BE(offset + 8)
  if (end > file.length) return null
  const sum = crc32(file.subarray(head_at, end), crc32(file.subarray(offset, offset + 12)))
  if (sum !== file.readUInt32BE(offset + 12)) return null
  return { head: parseHead(file.toString('utf8', head_at, body)), body, end }
}

/** Where the next whole record with one of these signs begins, past something that is none; null when there is none. */
export function findRecord(file: Buffer, from: number, signs: Signs): number | null {
  const mark = Buffer.alloc(4)
  mark.writeUInt32BE(MARK)
  for (let at = file.indexOf(mark, from); at !== -1; at = file.indexOf(mark, at + 1)) {
    const found = readRecord(file, at)
    if (found && signs.has(found.head.sign)) return at
  }
  return null
}

type HeadText = Omit<RecordHead, 'inserted_at' | 'copies_position'> & {
  inserted_at: string
  copies_position: string
}

function parseHead(text: string): RecordHead {
  const head = JSON.parse(text) as HeadText
  return {
    ...head,
    inserted_at: BigInt(head.inserted_at),
    copies_position: BigInt(head.copies_position),
  }
}
