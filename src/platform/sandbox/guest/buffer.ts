// A small Buffer: from and toString for UTF-8, base64 and hex, and what goes with them.
import { decodeUtf8, encodeUtf8, fromBase64, toBase64, toBytes } from './bytes.ts'

export class GuestBuffer extends Uint8Array {
  static override from(data: unknown, encoding?: unknown): GuestBuffer {
    if (typeof data === 'string') return copyOf(decode(data, encoding))
    if (Array.isArray(data)) return copyOf(Uint8Array.from(data as number[]))
    return copyOf(toBytes(data))
  }

  static alloc(size: number): GuestBuffer {
    return new GuestBuffer(size)
  }

  static isBuffer(value: unknown): value is GuestBuffer {
    return value instanceof GuestBuffer
  }

  static byteLength(data: string | Uint8Array, encoding?: string): number {
    return typeof data === 'string' ? decode(data, encoding).length : data.byteLength
  }

  static concat(parts: readonly Uint8Array[]): GuestBuffer {
    const whole = new GuestBuffer(parts.reduce((size, part) => size + part.length, 0))
    let at = 0
    for (const part of parts) {
      whole.set(part, at)
      at += part.length
    }
    return whole
  }

  override toString(encoding: unknown = 'utf8'): string {
    const name = String(encoding).toLowerCase()
    if (name === 'base64') return toBase64(this)
    if (name === 'base64url') return toBase64(this).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
    if (name === 'hex') return Array.prototype.map.call(this, toHexPair).join('')
    if (name === 'latin1' || name === 'binary' || name === 'ascii') return toBinary(this)
    return decodeUtf8(this)
  }

  toJSON() {
    return { type: 'Buffer', data: Array.from(this) }
  }

  readUInt16BE(at = 0): number {
    return viewOf(this).getUint16(at)
  }

  readUInt32BE(at = 0): number {
    return viewOf(this).getUint32(at)
  }

  readInt32BE(at = 0): number {
    return viewOf(this).getInt32(at)
  }

  readFloatBE(at = 0): number {
    return viewOf(this).getFloat32(at)
  }

  readDoubleBE(at = 0): number {
    return viewOf(this).getFloat64(at)
  }

  /** In no documentation of Node's, and yet what readers of MaxMind's databases call. */
  utf8Slice(start = 0, end = this.length): string {
    return decodeUtf8(this.subarray(start, end))
  }

  copy(target: Uint8Array, at = 0, start = 0, end = this.length): number {
    const bytes = this.subarray(start, Math.max(start, Math.min(end, start + target.length - at)))
    if (bytes.length > 0) target.set(bytes, at)
    return bytes.length
  }

  equals(other: Uint8Array): boolean {
    return this.length === other.length && this.every((byte, at) => byte === other[at])
  }
}

/** One character for each byte. */
function toBinary(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 4096) {
    text += String.fromCharCode(...bytes.subarray(at, at + 4096))
  }
  return text
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

const toHexPair = (byte: number) => byte.toString(16).padStart(2, '0')

function copyOf(bytes: Uint8Array): GuestBuffer {
  const copy = new GuestBuffer(bytes.length)
  copy.set(bytes)
  return copy
}

function decode(text: string, encoding: unknown): Uint8Array {
  const name = typeof encoding === 'string' ? encoding.toLowerCase() : 'utf8'
  if (name === 'base64' || name === 'base64url') return fromBase64(text)
  if (name === 'hex') return fromHex(text)
  if (name === 'latin1' || name === 'binary' || name === 'ascii') {
    return Uint8Array.from(text, (character) => character.charCodeAt(0))
  }
  return encodeUtf8(text)
}

/** Up to the first pair that is none, as Node does it. */
function fromHex(text: string): Uint8Array {
  const pairs = /^(?:[0-9a-f]{2})*/i.exec(text)![0]
  const bytes = new Uint8Array(pairs.length / 2)
  for (let at = 0; at < bytes.length; at++) bytes[at] = parseInt(pairs.slice(at * 2, at * 2 + 2), 16)
  return bytes
}
