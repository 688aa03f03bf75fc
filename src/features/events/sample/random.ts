// Chance that can be repeated: the same seed, the same numbers (mulberry32).

export class Random {
  #state: number

  /** @param parts a seed and what it is for: each combination has numbers of its own */
  constructor(...parts: readonly number[]) {
    this.#state = parts.reduce((mixed, part) => scramble(mixed ^ scramble(part >>> 0)), 0x9e3779b9)
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  /** A whole number, both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  /** Many small values, few large ones. */
  exponential(mean: number): number {
    return -Math.log(1 - this.next()) * mean
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!
  }

  /** By the shares that the items have. */
  pickByShare<T extends { share: number }>(list: readonly T[]): T {
    let left = this.next() * list.reduce((sum, { share }) => sum + share, 0)
    return list.find(({ share }) => (left -= share) < 0) ?? list[0]!
  }

  /** In fours: `words` times four digits. */
  hex(words: number): string {
    let text = ''
    for (let count = 0; count < words; count += 1) text += HEX[Math.floor(this.next() * 65_536)]!
    return text
  }

  /** As browsers' libraries make them: the time in front, chance behind. */
  uuid7(ms: number): string {
    const time = ms.toString(16).padStart(12, '0')
    return `${time.slice(0, 8)}-${time.slice(8)}-7${this.#three()}-a${this.#three()}-${this.hex(3)}`
  }

  uuid4(): string {
    return `${this.hex(2)}-${this.hex(1)}-4${this.#three()}-a${this.#three()}-${this.hex(3)}`
  }

  #three(): string {
    return this.hex(1).slice(1)
  }
}

const HEX = Array.from({ length: 65_536 }, (_, value) => value.toString(16).padStart(4, '0'))

function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
