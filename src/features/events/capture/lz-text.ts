// Reads the base64 form of LZ-string, which old browser libraries send. The package of that name cannot be told where to
// stop: 64 KB of input make it build 300 MB. Here a phrase is a stretch of the output, so memory is the output alone.

/** The text is longer than the limit. */
export class LzTooLong extends Error {}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const VALUES = new Map([...DIGITS].map((digit, value) => [digit.charCodeAt(0), value]))
const BITS_PER_DIGIT = 6

// The first codes have a meaning of their own; phrases are numbered from the fourth.
const CODE_BYTE = 0
const CODE_UNIT = 1
const CODE_END = 2
const FIRST_PHRASE = 3

/** Null when the input is no such text or ends early. `limit` counts UTF-16 units. */
export function decompressLz(base64: string, limit: number): string | null {
  const bits = new BitReader(base64)
  const output = new Output(limit)
  // Phrases by number: where each starts in the output, and its length.
  const starts: number[] = []
  const lengths: number[] = []
  let width = 2
  // Numbers given until codes grow by a bit.
  let left = 1
  const number = (start: number, length: number) => {
    starts.push(start)
    lengths.push(length)
    if (--left > 0) return
    left = 2 ** width
    width += 1
  }

  let previous: { start: number; length: number } | null = null
  for (;;) {
    const code = bits.read(width)
    if (code === null) return null
    if (code === CODE_END) return output.text()
    const start = output.length
    let length = 1
    if (code === CODE_BYTE || code === CODE_UNIT) {
      const unit = bits.read(code === CODE_BYTE ? 8 : 16)
      if (unit === null) return null
      output.push(unit)
      number(start, 1)
    } else {
      const phrase = code - FIRST_PHRASE
      if (previous === null || phrase > starts.length) return null
      // A phrase may be the very one this code completes: the previous one and its own first unit again.
      const from = phrase === starts.length ? previous.start : starts[phrase]!
      length = phrase === starts.length ? previous.length + 1 : lengths[phrase]!
      output.repeat(from, length)
    }
    if (previous !== null) number(previous.start, previous.length + 1)
    previous = { start, length }
  }
}

/** Numbers of any width, lowest bit first, from digits whose highest bit comes first. Null at the end of the input. */
class BitReader {
  #at = 0
  #digit = 0
  #bits = 0
  constructor(private readonly text: string) {}

  read(width: number): number | null {
    let value = 0
    for (let bit = 0; bit < width; bit += 1) {
      if (this.#bits === 0 && !this.#advance()) return null
      this.#bits -= 1
      value |= ((this.#digit >> this.#bits) & 1) << bit
    }
    return value
  }

  #advance(): boolean {
    const digit = VALUES.get(this.text.charCodeAt(this.#at))
    if (digit === undefined) return false
    this.#at += 1
    this.#digit = digit
    this.#bits = BITS_PER_DIGIT
    return true
  }
}

class Output {
  length = 0
  #units = new Uint16Array(4096)
  constructor(private readonly limit: number) {}

  push(unit: number): void {
    this.#reserve(1)
    this.#units[this.length] = unit
    this.length += 1
  }

  /** The stretch may reach into what it writes itself. */
  repeat(from: number, length: number): void {
    this.#reserve(length)
    for (let at = 0; at < length; at += 1) this.#units[this.length + at] = this.#units[from + at]!
    this.length += length
  }

  text(): string {
    return Buffer.from(this.#units.buffer, 0, 2 * this.length).toString('utf16le')
  }

  #reserve(more: number): void {
    const needed = this.length + more
    if (needed > this.limit) throw new LzTooLong()
    if (needed <= this.#units.length) return
    const larger = new Uint16Array(Math.max(needed, Math.min(2 * this.#units.length, this.limit)))
    larger.set(this.#units)
    this.#units = larger
  }
}
