// The first half of a compressed block: the bytes that are not copied from earlier output (RFC 8878, section 3.1.1.3.1).
import { ZstdError } from './bits.ts'
import { decodeHuffman, readHuffmanTable, type HuffmanTable } from './huffman.ts'

export type Literals = { bytes: Uint8Array; end: number; huffman: HuffmanTable | null }

const [RAW, REPEATED, CODED] = [0, 1, 2]
const MAX_SIZE = 128 * 1024

/** @param known the codes of an earlier block, which this one may use again */
export function readLiterals(block: Uint8Array, known: HuffmanTable | null): Literals {
  const head = littleEndian(block, 0, 5)
  const kind = head % 4
  const form = Math.floor(head / 4) % 4
  if (kind === RAW || kind === REPEATED) {
    const headBytes = form === 1 ? 2 : form === 3 ? 3 : 1
    const size = Math.floor((head % 2 ** (headBytes * 8)) / (headBytes === 1 ? 8 : 16))
    const end = headBytes + (kind === RAW ? size : 1)
    if (end > block.length || size > MAX_SIZE) throw new ZstdError('literals go on beyond their block')
    const bytes = kind === RAW ? block.subarray(headBytes, end) : new Uint8Array(size).fill(block[headBytes]!)
    return { bytes, end, huffman: known }
  }
  const sizeBits = form < 2 ? 10 : form === 2 ? 14 : 18
  const size = Math.floor(head / 16) % 2 ** sizeBits
  const packed = Math.floor(head / 2 ** (4 + sizeBits)) % 2 ** sizeBits
  const from = (4 + 2 * sizeBits) / 8
  const end = from + packed
  if (end > block.length || size > MAX_SIZE) throw new ZstdError('literals go on beyond their block')
  const own = kind === CODED ? readHuffmanTable(block, from) : null
  const huffman = own?.table ?? known
  if (!huffman) throw new ZstdError('a block repeats literal codes that were never given')
  const bytes = new Uint8Array(size)
  const streams = { from: own?.end ?? from, to: end }
  if (form === 0) decodeHuffman(huffman, block, streams, bytes)
  else decodeFour(huffman, block, streams, bytes)
  return { bytes, end, huffman }
}

/** Four streams after a table with the lengths of the first three; each gives a quarter of the bytes. */
function decodeFour(
  huffman: HuffmanTable,
  block: Uint8Array,
  { from, to }: { from: number; to: number },
  bytes: Uint8Array,
): void {
  const quarter = Math.ceil(bytes.length / 4)
  let start = from + 6
  for (let index = 0; index < 4; index += 1) {
    const end = index === 3 ? to : start + littleEndian(block, from + 2 * index, 2)
    if (end > to) throw new ZstdError('a stream of literals goes on beyond the others')
    const part = bytes.subarray(index * quarter, index === 3 ? bytes.length : (index + 1) * quarter)
    decodeHuffman(huffman, block, { from: start, to: end }, part)
    start = end
  }
}

export function littleEndian(bytes: Uint8Array, from: number, count: number): number {
  let value = 0
  for (let index = 0; index < count; index += 1) value += (bytes[from + index] ?? 0) * 2 ** (8 * index)
  return value
}
