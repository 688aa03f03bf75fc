// Finds where stretches of known bytes stand in others, in time that depends on neither how many are known nor what they
// are: strangers choose both. All stretches of a set have one length.
import { randomInt } from 'node:crypto'

const EMPTY = -1
/** Odd, and known to nobody: stretches of the same hash cannot be made on purpose. */
const BASE = randomInt(2 ** 20, 2 ** 30) * 2 + 1
/** Slots for each stretch: most of what is looked up ends at an empty one. */
const ROOM = 4

export class Windows {
  readonly #size: number
  readonly #bytes: Uint8Array
  /** Where stretches begin in `#bytes`, by hash. */
  readonly #table: Int32Array
  readonly #mask: number

  /** All stretches of `size` bytes in each of the texts. */
  constructor(size: number, texts: readonly Uint8Array[]) {
    this.#size = size
    this.#bytes = Buffer.concat(texts)
    const slots = 2 ** Math.ceil(Math.log2(ROOM * this.#bytes.length + 2))
    this.#table = new Int32Array(slots).fill(EMPTY)
    this.#mask = slots - 1
    let start = 0
    for (const text of texts) {
      for (const [at, hash] of hashes(text, size).entries()) this.#add(start + at, hash)
      start += text.length
    }
  }

  /** Sets what is found to 1. */
  mark(bytes: Uint8Array, marks: Uint8Array): void {
    const hashed = hashes(bytes, this.#size)
    let end = 0
    for (let at = 0; at < hashed.length; at++) {
      if (this.#find(bytes, at, hashed[at]!) === EMPTY) continue
      for (end = Math.max(at, end); end < at + this.#size; end++) marks[end] = 1
    }
  }

  #add(at: number, hash: number): void {
    if (this.#find(this.#bytes, at, hash) !== EMPTY) return
    let slot = this.#slot(hash)
    while (this.#table[slot] !== EMPTY) slot = (slot + 1) & this.#mask
    this.#table[slot] = at
  }

  #find(bytes: Uint8Array, at: number, hash: number): number {
    for (let slot = this.#slot(hash); ; slot = (slot + 1) & this.#mask) {
      const known = this.#table[slot]!
      if (known === EMPTY || this.#isSame(bytes, at, known)) return known
    }
  }

  #slot(hash: number): number {
    return (hash ^ (hash >>> 15)) & this.#mask
  }

  #isSame(bytes: Uint8Array, at: number, known: number): boolean {
    for (let index = 0; index < this.#size; index++) {
      if (bytes[at + index] !== this.#bytes[known + index]) return false
    }
    return true
  }
}

/** The hash of each stretch, by where it begins: from one to the next, a byte comes in and one goes out. */
function hashes(bytes: Uint8Array, size: number): Int32Array {
  const found = new Int32Array(Math.max(0, bytes.length - size + 1))
  let first_weight = 1
  for (let count = 1; count < size; count++) first_weight = Math.imul(first_weight, BASE)
  let hash = 0
  for (let end = 0; end < bytes.length; end++) {
    const at = end - size + 1
    if (at > 0) hash -= Math.imul(bytes[at - 1]!, first_weight)
    hash = (Math.imul(hash, BASE) + bytes[end]!) | 0
    if (at >= 0) found[at] = hash
  }
  return found
}
