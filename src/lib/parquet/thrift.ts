// Thrift's compact protocol, as far as the footers of Parquet files use it: read into a tree, and written back as it was.

/** Bytes are texts, or in a list of structs one that was written already. */
export type ThriftValue = boolean | bigint | Uint8Array | ThriftList | ThriftStruct
export type ThriftList = { element_type: number; items: ThriftValue[] }
/** By field id. */
export type ThriftStruct = Map<number, { type: number; value: ThriftValue }>

const TYPES = {
  STOP: 0,
  TRUE: 1,
  FALSE: 2,
  BYTE: 3,
  I16: 4,
  I32: 5,
  I64: 6,
  DOUBLE: 7,
  BINARY: 8,
  LIST: 9,
  STRUCT: 12,
} as const
/** In the half byte where a short list has its length. */
const IS_LONG = 15

type Source = { bytes: Uint8Array; at: number }

export function readStruct(bytes: Uint8Array): ThriftStruct {
  return takeStruct({ bytes, at: 0 })
}

function takeStruct(source: Source): ThriftStruct {
  const struct: ThriftStruct = new Map()
  for (let id = 0; ;) {
    const head = takeByte(source)
    const type = head & 15
    if (type === TYPES.STOP) return struct
    id = head >> 4 === 0 ? Number(takeSigned(source)) : id + (head >> 4)
    const isBoolean = type === TYPES.TRUE || type === TYPES.FALSE
    struct.set(id, { type, value: isBoolean ? type === TYPES.TRUE : takeValue(source, type) })
  }
}

function takeValue(source: Source, type: number): ThriftValue {
  switch (type) {
    // In a list: in a struct the type itself is the value.
    case TYPES.TRUE:
    case TYPES.FALSE:
      return takeByte(source) === TYPES.TRUE
    case TYPES.BYTE:
      return takeBytes(source, 1)
    case TYPES.I16:
    case TYPES.I32:
    case TYPES.I64:
      return takeSigned(source)
    case TYPES.DOUBLE:
      return takeBytes(source, 8)
    case TYPES.BINARY:
      return takeBytes(source, Number(takeVarint(source)))
    case TYPES.LIST:
      return takeList(source)
    case TYPES.STRUCT:
      return takeStruct(source)
    default:
      throw new Error('a footer holds a type that Parquet does not use')
  }
}

function takeList(source: Source): ThriftList {
  const head = takeByte(source)
  const length = head >> 4 === IS_LONG ? Number(takeVarint(source)) : head >> 4
  const element_type = head & 15
  const items: ThriftValue[] = []
  while (items.length < length) items.push(takeValue(source, element_type))
  return { element_type, items }
}

function takeByte(source: Source): number {
  const byte = source.bytes[source.at++]
  if (byte === undefined) throw new Error('a footer ends too soon')
  return byte
}

function takeBytes(source: Source, length: number): Uint8Array {
  const bytes = source.bytes.subarray(source.at, source.at + length)
  if (bytes.length < length) throw new Error('a footer ends too soon')
  source.at += length
  return bytes
}

function takeVarint(source: Source): bigint {
  let value = 0n
  for (let shift = 0n; ; shift += 7n) {
    const byte = takeByte(source)
    value |= BigInt(byte & 127) << shift
    if (byte < 128) return value
  }
}

/** Signs alternate: 0, -1, 1, -2, … */
function takeSigned(source: Source): bigint {
  const value = takeVarint(source)
  return (value >> 1n) ^ -(value & 1n)
}

export function writeStruct(struct: ThriftStruct): Buffer {
  return Buffer.concat(structParts(struct))
}

/** Its bytes one behind the other, without a copy of what was written already. */
export function structParts(struct: ThriftStruct): Uint8Array[] {
  const parts: Uint8Array[] = []
  putStruct(parts, struct)
  return parts
}

function putStruct(parts: Uint8Array[], struct: ThriftStruct): void {
  let last = 0
  for (const [id, { type, value }] of struct) {
    const step = id - last
    if (step > 0 && step <= 15) parts.push(Uint8Array.of((step << 4) | type))
    else parts.push(Uint8Array.of(type), signed(BigInt(id)))
    last = id
    if (typeof value !== 'boolean') putValue(parts, type, value)
  }
  parts.push(Uint8Array.of(TYPES.STOP))
}

function putValue(parts: Uint8Array[], type: number, value: ThriftValue): void {
  if (typeof value === 'boolean') parts.push(Uint8Array.of(value ? TYPES.TRUE : TYPES.FALSE))
  else if (typeof value === 'bigint') parts.push(signed(value))
  else if (value instanceof Map) putStruct(parts, value)
  else if (value instanceof Uint8Array) {
    if (type === TYPES.BINARY) parts.push(varint(BigInt(value.length)))
    parts.push(value)
  } else putList(parts, value)
}

function putList(parts: Uint8Array[], { element_type, items }: ThriftList): void {
  if (items.length < IS_LONG) parts.push(Uint8Array.of((items.length << 4) | element_type))
  else parts.push(Uint8Array.of((IS_LONG << 4) | element_type), varint(BigInt(items.length)))
  for (const item of items) putValue(parts, element_type, item)
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = []
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return Uint8Array.of(...bytes, Number(rest))
    bytes.push(Number(rest & 127n) | 128)
  }
}

function signed(value: bigint): Uint8Array {
  return varint(value >= 0n ? value << 1n : (-value << 1n) - 1n)
}
