// TextEncoder, TextDecoder and structuredClone.
import { decodeUtf8, encodeUtf8, toBytes } from './bytes.ts'

export class GuestTextEncoder {
  readonly encoding = 'utf-8'

  encode(text = ''): Uint8Array {
    return encodeUtf8(String(text))
  }
}

export class GuestTextDecoder {
  readonly encoding = 'utf-8'

  constructor(label = 'utf-8') {
    if (!/^utf-?8$/i.test(label)) throw new RangeError(`the encoding ${label} is not known: utf-8 is`)
  }

  decode(data?: unknown): string {
    const text = data === undefined ? '' : decodeUtf8(toBytes(data))
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }
}

export function guestStructuredClone(value: unknown): unknown {
  return clone(value, new Map())
}

function clone(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError('it cannot be cloned')
  if (typeof value !== 'object' || value === null) return value
  if (seen.has(value)) return seen.get(value)
  const copy = emptyCopy(value)
  seen.set(value, copy)
  if (value instanceof Map) {
    for (const [key, item] of value) (copy as Map<unknown, unknown>).set(clone(key, seen), clone(item, seen))
  } else if (value instanceof Set) {
    for (const item of value) (copy as Set<unknown>).add(clone(item, seen))
  } else if (isPlain(value)) {
    for (const key of Object.keys(value)) {
      const item = clone((value as Record<string, unknown>)[key], seen)
      Object.defineProperty(copy, key, { value: item, writable: true, enumerable: true, configurable: true })
    }
  }
  return copy
}

function emptyCopy(value: object): object {
  if (Array.isArray(value)) return []
  if (value instanceof Date) return new Date(value.getTime())
  if (value instanceof RegExp) return new RegExp(value.source, value.flags)
  if (value instanceof Map) return new Map()
  if (value instanceof Set) return new Set()
  if (value instanceof ArrayBuffer) return value.slice(0)
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return (value as Uint8Array).slice()
  if (value instanceof Error)
    return Object.assign(new Error(value.message), { name: value.name, stack: value.stack })
  return {}
}

function isPlain(value: object): boolean {
  return Object.prototype.toString.call(value) === '[object Object]' || Array.isArray(value)
}
