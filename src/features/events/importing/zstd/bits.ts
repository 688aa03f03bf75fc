// Bits of a zstd stream. Tables are written forwards; coded data is written so that it is read from its end.

export class ZstdError extends Error {
  constructor(what: string) {
    super(`the zstd data is damaged: ${what}`)
  }
}

/** Reads forwards, lowest bit first. */
export class ForwardBits {
  readonly #bytes: Uint8Array
  #at: number

  constructor(bytes: Uint8Array, from: number) {
    this.#bytes = bytes
    this.#at = from * 8
  }

  /** Up to 16 bits. */
  read(count: number): number {
    const value = this.peek(count)
    this.#at += count
    return value
  }

  peek(count: number): number {
    const at = this.#at >>> 3
    const three =
      byteAt(this.#bytes, at) | (byteAt(this.#bytes, at + 1) << 8) | (byteAt(this.#bytes, at + 2) << 16)
    return (three >>> (this.#at & 7)) & ((1 << count) - 1)
  }

  skip(count: number): void {
    this.#at += count
  }

  /** Index of the first byte not touched. */
  get end(): number {
    const end = (this.#at + 7) >>> 3
    if (end > this.#bytes.length) throw new ZstdError('a table goes on beyond its block')
    return end
  }
}

/** Reads from the end backwards; the highest set bit of the last byte only marks the beginning. */
export class BackwardBits {
  readonly #bytes: Uint8Array
  readonly #from: number
  /** Bits not read yet; below zero once more was read than there is. */
  left: number

  constructor(bytes: Uint8Array, from: number, to: number) {
    const last = to > from ? bytes[to - 1]! : 0
    if (last === 0) throw new ZstdError('a stream has no end mark')
    this.#bytes = bytes
    this.#from = from
    this.left = (to - from - 1) * 8 + (31 - Math.clz32(last))
  }

  /** Up to 31 bits; zeros where there are no more. */
  read(count: number): number {
    const value = this.peek(count)
    this.left -= count
    return value
  }

  peek(count: number): number {
    if (count === 0) return 0
    const start = this.left - count
    if (start >= 0) return this.#extract(start, count)
    return this.left > 0 ? this.#extract(0, this.left) * 2 ** -start : 0
  }

  #extract(start: number, count: number): number {
    const bytes = this.#bytes
    const at = this.#from + (start >>> 3)
    const shift = start & 7
    const low =
      (bytes[at]! |
        (byteAt(bytes, at + 1) << 8) |
        (byteAt(bytes, at + 2) << 16) |
        (byteAt(bytes, at + 3) << 24)) >>>
      shift
    if (shift + count <= 32) return count === 32 ? low : low & (2 ** count - 1)
    return (low + byteAt(bytes, at + 4) * 2 ** (32 - shift)) % 2 ** count
  }
}

function byteAt(bytes: Uint8Array, at: number): number {
  return at < bytes.length ? bytes[at]! : 0
}
