// What one project writes in a batch, as bytes: the ids and times of its events first, because those are asked for by
// themselves; then the rest of the events as JSON text, by column; then its copies of persons and groups, if any.
import type { Copies, ProjectWrite, StoredEvent } from '../../event-store.ts'

export type EncodedWrite = EncodedIds & { project_id: number }

/** Bytes that begin with the ids and times of so many events. */
export type EncodedIds = { count: number; bytes: Uint8Array }

/** Events by column, as they are appended to a table. */
export type EventColumns = {
  uuid: string[]
  event: string[]
  distinct_id: string[]
  timestamp: BigInt64Array
  created_at: BigInt64Array
  elements_chain: string[]
  person_mode: number[]
  person_id: string[]
  person_properties: string[]
  properties: string[]
  /** One list per hot property. */
  hot: (string | null)[][]
}

type Texts = Omit<EventColumns, 'uuid' | 'timestamp' | 'created_at'>

const ID_BYTES = 16
const TIME_BYTES = 8
const LENGTH_BYTES = 4

const fixedBytes = (count: number) => count * (ID_BYTES + 2 * TIME_BYTES)

export function encodeWrite({ project_id, events, ...copies }: ProjectWrite): EncodedWrite {
  const texts = Buffer.from(JSON.stringify(textsOf(events)))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(texts.length)
  const bytes = Buffer.concat([encodeIds(events).bytes, length, texts, encodeCopies(copies)])
  return { project_id, count: events.length, bytes }
}

function textsOf(events: readonly StoredEvent[]): Texts {
  const hot_count = events[0]?.hot.length ?? 0
  return {
    event: events.map(({ event }) => event),
    distinct_id: events.map(({ distinct_id }) => distinct_id),
    elements_chain: events.map(({ elements_chain }) => elements_chain),
    person_mode: events.map(({ has_person }) => (has_person ? 0 : 1)),
    person_id: events.map(({ person_id }) => person_id),
    person_properties: events.map(({ person_properties }) => person_properties),
    properties: events.map(({ properties }) => properties),
    hot: Array.from({ length: hot_count }, (_, index) => events.map(({ hot }) => hot[index] ?? null)),
  }
}

export function encodeIds(events: readonly StoredEvent[]): EncodedIds {
  const bytes = Buffer.alloc(fixedBytes(events.length))
  const times_at = events.length * ID_BYTES
  for (const [index, { uuid, timestamp, created_at }] of events.entries()) {
    const written = bytes.write(uuid.replaceAll('-', ''), index * ID_BYTES, ID_BYTES, 'hex')
    if (written !== ID_BYTES) throw new Error(`${uuid} is no uuid`)
    bytes.writeBigInt64LE(timestamp, times_at + index * TIME_BYTES)
    bytes.writeBigInt64LE(created_at, times_at + (events.length + index) * TIME_BYTES)
  }
  return { count: events.length, bytes }
}

/** Sixteen bytes as a text of as many characters, by which ids are compared. */
export function idAt(section: Buffer, index: number): string {
  return section.toString('latin1', index * ID_BYTES, (index + 1) * ID_BYTES)
}

export function timeAt(section: Buffer, count: number, index: number): bigint {
  return section.readBigInt64LE(count * ID_BYTES + index * TIME_BYTES)
}

/** What came from another thread. */
export const bufferOf = ({ bytes }: EncodedIds) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

export function uuidAt(section: Buffer, index: number): string {
  const hex = section.toString('hex', index * ID_BYTES, (index + 1) * ID_BYTES)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export function decodeSection(section: Buffer, count: number): { events: EventColumns; copies: Copies } {
  const texts_at = fixedBytes(count) + LENGTH_BYTES
  const copies_at = texts_at + section.readUInt32LE(fixedBytes(count))
  const texts = JSON.parse(section.toString('utf8', texts_at, copies_at)) as Texts
  const indexes = Array.from({ length: count }, (_, index) => index)
  return {
    events: {
      ...texts,
      uuid: indexes.map((index) => uuidAt(section, index)),
      timestamp: BigInt64Array.from(indexes, (index) => timeAt(section, count, index)),
      created_at: BigInt64Array.from(indexes, (index) => timeAt(section, count, count + index)),
    },
    copies: decodeCopies(section.toString('utf8', copies_at)),
  }
}

const NO_COPIES: Copies = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }

function encodeCopies({ persons, deleted_persons, distinct_ids, groups }: Copies): Buffer {
  const copies = { persons, deleted_persons, distinct_ids, groups }
  if (Object.values(copies).every((list) => list.length === 0)) return Buffer.alloc(0)
  return Buffer.from(
    JSON.stringify(copies, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  )
}

function decodeCopies(text: string): Copies {
  if (text === '') return NO_COPIES
  const { persons, groups, ...others } = JSON.parse(text) as Copies
  const withTime = <Copy extends { created_at: bigint }>(copy: Copy) => ({
    ...copy,
    created_at: BigInt(copy.created_at),
  })
  return { ...others, persons: persons.map(withTime), groups: groups.map(withTime) }
}
