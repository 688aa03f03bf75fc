// Huffman codes of literals (RFC 8878, section 4.2).
import { BackwardBits, ZstdError } from './bits.ts'
import { nextState, readFseTable } from './fse.ts'

/** By the next `width` bits: which symbol comes, and how many of the bits are its own. */
export type HuffmanTable = { width: number; symbols: Uint8Array; bits: Uint8Array }

const MAX_WIDTH = 11
const MAX_WEIGHT_ACCURACY = 6
const MAX_WEIGHTS = 255
const FIRST_PLAIN_COUNT = 128

export function readHuffmanTable(bytes: Uint8Array, from: number): { table: HuffmanTable; end: number } {
  const head = bytes[from]
  if (head === undefined) throw new ZstdError('a block ends before its literals')
  const start = from + 1
  if (head >= FIRST_PLAIN_COUNT) {
    const count = head - FIRST_PLAIN_COUNT + 1
    const end = start + Math.ceil(count / 2)
    return { table: makeTable(plainWeights(bytes, start, count)), end: within(bytes, end) }
  }
  const end = within(bytes, start + head)
  return { table: makeTable(codedWeights(bytes, start, end)), end }
}

export function decodeHuffman(
  table: HuffmanTable,
  bytes: Uint8Array,
  range: { from: number; to: number },
  output: Uint8Array,
): void {
  const input = new BackwardBits(bytes, range.from, within(bytes, range.to))
  const { width, symbols, bits } = table
  for (let at = 0; at < output.length; at += 1) {
    const code = input.peek(width)
    output[at] = symbols[code]!
    input.left -= bits[code]!
  }
  if (input.left !== 0) throw new ZstdError('literals do not fill their stream')
}

/** Two to a byte, the first in the upper half. */
function plainWeights(bytes: Uint8Array, from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => {
    const pair = bytes[from + (index >> 1)] ?? 0
    return index % 2 === 0 ? pair >> 4 : pair & 15
  })
}

/** Two states take turns; when the bits run out, the one whose turn it is not gives the last weight. */
function codedWeights(bytes: Uint8Array, from: number, to: number): number[] {
  const { table, end } = readFseTable(bytes, from, MAX_WEIGHT_ACCURACY, MAX_WEIGHTS)
  const input = new BackwardBits(bytes, end, to)
  let current = input.read(table.accuracy)
  let other = input.read(table.accuracy)
  const weights: number[] = []
  while (weights.length < MAX_WEIGHTS) {
    weights.push(table.symbols[current]!)
    current = nextState(table, current, input)
    if (input.left < 0) {
      weights.push(table.symbols[other]!)
      return weights
    }
    ;[current, other] = [other, current]
  }
  throw new ZstdError('there are too many literal codes')
}

/** The weight of the last symbol is not written: it is what makes the sum a power of two. */
function makeTable(given: readonly number[]): HuffmanTable {
  const sum = given.reduce((total, weight) => total + (weight === 0 ? 0 : 2 ** (weight - 1)), 0)
  if (sum === 0) throw new ZstdError('there are no literal codes')
  const width = 32 - Math.clz32(sum)
  const rest = 2 ** width - sum
  if (width > MAX_WIDTH || (rest & (rest - 1)) !== 0) throw new ZstdError('literal codes do not add up')
  const weights = [...given, 32 - Math.clz32(rest)]
  const symbols = new Uint8Array(1 << width)
  const bits = new Uint8Array(1 << width)
  let at = 0
  for (let weight = 1; weight <= width; weight += 1) {
    for (const [symbol, own] of weights.entries()) {
      if (own !== weight) continue
      const end = at + 2 ** (weight - 1)
      symbols.fill(symbol, at, end)
      bits.fill(width + 1 - weight, at, end)
      at = end
    }
  }
  return { width, symbols, bits }
}

function within(bytes: Uint8Array, end: number): number {
  if (end > bytes.length) throw new ZstdError('literals go on beyond their block')
  return end
}
