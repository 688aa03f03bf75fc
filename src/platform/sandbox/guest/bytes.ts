// Bytes and text. The engine knows base64; for UTF-8 the host is asked.
import { ask } from './host.ts'

// The engine has these; TypeScript does not know of them yet.
type Base64Bytes = { toBase64(): string }
type Base64Reader = { fromBase64(text: string): Uint8Array }

export const encodeUtf8 = (text: string): Uint8Array => fromBase64(ask('encodeUtf8', text) as string)

export const decodeUtf8 = (bytes: Uint8Array): string => decodeBase64(toBase64(bytes))

/** What is no UTF-8 becomes the replacement character. */
export const decodeBase64 = (text: string): string => ask('decodeUtf8', text) as string

export const toBase64 = (bytes: Uint8Array): string => (bytes as unknown as Base64Bytes).toBase64()

/** Both alphabets, with or without padding; what belongs to neither is left out. */
export function fromBase64(text: string): Uint8Array {
  const { fromBase64: read } = Uint8Array as unknown as Base64Reader
  try {
    return read.call(Uint8Array, text)
  } catch {
    const plain = text
      .replace(/-/g, '+')
      .replace(/_/g, '/')
      .replace(/[^A-Za-z0-9+/]/g, '')
    return read.call(Uint8Array, plain.length % 4 === 1 ? plain.slice(0, -1) : plain)
  }
}

/** Anything apps hand over as data. */
export function toBytes(data: unknown): Uint8Array {
  if (typeof data === 'string') return encodeUtf8(data)
  if (data instanceof ArrayBuffer) return new Uint8Array(data)
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  throw new TypeError('text, a Buffer or a typed array is expected')
}
