// The second half of a compressed block: sequences, each some literals and then a copy of earlier output
// (RFC 8878, section 3.1.1.3.2).
import { BackwardBits, ZstdError } from './bits.ts'
import { constantFseTable, makeFseTable, nextState, readFseTable, type FseTable } from './fse.ts'
import type { HuffmanTable } from './huffman.ts'
import { littleEndian, readLiterals } from './literals.ts'

/** What a block hands on to the next one of its frame. */
export type BlockState = {
  huffman: HuffmanTable | null
  tables: { lengths: FseTable | null; offsets: FseTable | null; matches: FseTable | null }
  recent: [number, number, number]
}

export function newBlockState(): BlockState {
  return { huffman: null, tables: { lengths: null, offsets: null, matches: null }, recent: [1, 4, 8] }
}

/** Codes up to `plain` stand for themselves; the others for ranges with so many further bits. */
function codes(plain: number, first: number, furtherBits: readonly number[]) {
  const base = Array.from({ length: plain }, (_, code) => first + code)
  const bits = base.map(() => 0)
  let next = first + plain
  for (const count of furtherBits) {
    base.push(next)
    bits.push(count)
    next += 2 ** count
  }
  return { base: Uint32Array.from(base), bits: Uint8Array.from(bits) }
}

const LENGTH_CODES = codes(16, 0, [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
const MATCH_CODES = codes(32, 3, [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
const MAX_OFFSET_CODE = 31

const ones = (count: number) => Array.from({ length: count }, () => 1)
const rare = (count: number) => Array.from({ length: count }, () => -1)
const KINDS = {
  lengths: {
    shift: 6,
    max_accuracy: 9,
    max_symbol: 35,
    standard: makeFseTable(
      [
        4,
        3,
        ...Array.from({ length: 11 }, () => 2),
        1,
        1,
        1,
        ...Array.from({ length: 9 }, () => 2),
        3,
        2,
        ...ones(5),
        ...rare(4),
      ],
      6,
    ),
  },
  offsets: {
    shift: 4,
    max_accuracy: 8,
    max_symbol: MAX_OFFSET_CODE,
    standard: makeFseTable([...ones(6), 2, 2, 2, ...ones(15), ...rare(5)], 5),
  },
  matches: {
    shift: 2,
    max_accuracy: 9,
    max_symbol: 52,
    standard: makeFseTable([1, 4, 3, 2, 2, 2, 2, 2, 2, ...ones(37), ...rare(7)], 6),
  },
} as const

/** Where output goes: `bytes` up to `at` is what copies may reach back into, `limit` the end of this block. */
export type Window = { bytes: Uint8Array; at: number; reach: number; limit: number }

export function decodeBlock(block: Uint8Array, state: BlockState, window: Window): void {
  const literals = readLiterals(block, state.huffman)
  state.huffman = literals.huffman
  const { count, end } = readCount(block, literals.end)
  const used = count === 0 ? 0 : decodeSequences(block, end, count, state, window, literals.bytes)
  copyLiterals(window, literals.bytes, used, literals.bytes.length - used)
}

function readCount(block: Uint8Array, from: number): { count: number; end: number } {
  const first = block[from]
  if (first === undefined) throw new ZstdError('a block ends before its sequences')
  if (first < 128) return { count: first, end: from + 1 }
  if (first < 255) return { count: ((first - 128) << 8) + (block[from + 1] ?? 0), end: from + 2 }
  return { count: littleEndian(block, from + 1, 2) + 0x7f00, end: from + 3 }
}

/** How many of the literals were used. */
function decodeSequences(
  block: Uint8Array,
  from: number,
  count: number,
  state: BlockState,
  window: Window,
  literals: Uint8Array,
): number {
  const start = readTables(block, from, state)
  const { lengths, offsets, matches } = state.tables as Record<keyof typeof KINDS, FseTable>
  const input = new BackwardBits(block, start, block.length)
  let lengthState = input.read(lengths.accuracy)
  let offsetState = input.read(offsets.accuracy)
  let matchState = input.read(matches.accuracy)
  let used = 0
  for (let index = 0; index < count; index += 1) {
    const offsetCode = offsets.symbols[offsetState]!
    const matchCode = matches.symbols[matchState]!
    const lengthCode = lengths.symbols[lengthState]!
    const offsetValue = 2 ** offsetCode + input.read(offsetCode)
    const match = MATCH_CODES.base[matchCode]! + input.read(MATCH_CODES.bits[matchCode]!)
    const length = LENGTH_CODES.base[lengthCode]! + input.read(LENGTH_CODES.bits[lengthCode]!)
    if (index < count - 1) {
      lengthState = nextState(lengths, lengthState, input)
      matchState = nextState(matches, matchState, input)
      offsetState = nextState(offsets, offsetState, input)
    }
    copyLiterals(window, literals, used, length)
    used += length
    copyEarlier(window, offsetOf(offsetValue, length, state.recent), match)
  }
  if (input.left !== 0) throw new ZstdError('sequences do not fill their stream')
  return used
}

function readTables(block: Uint8Array, from: number, { tables }: BlockState): number {
  const modes = block[from] ?? 0
  let at = from + 1
  for (const name of ['lengths', 'offsets', 'matches'] as const) {
    const { shift, max_accuracy, max_symbol, standard } = KINDS[name]
    const mode = (modes >> shift) & 3
    if (mode === 0) tables[name] = standard
    else if (mode === 1) tables[name] = constantFseTable(assertSymbol(block[at++], max_symbol))
    else if (mode === 2) {
      const { table, end } = readFseTable(block, at, max_accuracy, max_symbol)
      tables[name] = table
      at = end
    } else if (!tables[name]) throw new ZstdError('a block repeats a table that was never given')
  }
  return at
}

function assertSymbol(symbol: number | undefined, max: number): number {
  if (symbol === undefined || symbol > max) throw new ZstdError('a code is out of range')
  return symbol
}

/** Values 1 to 3 mean one of the last three offsets, counted from the second when no literals came before. */
function offsetOf(value: number, literals: number, recent: BlockState['recent']): number {
  const index = value > 3 ? 3 : value - 1 + (literals === 0 ? 1 : 0)
  if (index === 0) return recent[0]
  const offset = value > 3 ? value - 3 : index === 3 ? recent[0] - 1 : recent[index]!
  if (index > 1) recent[2] = recent[1]
  recent[1] = recent[0]
  recent[0] = offset
  return offset
}

function copyLiterals(window: Window, literals: Uint8Array, from: number, count: number): void {
  if (from + count > literals.length || window.at + count > window.limit)
    throw new ZstdError('a block gives more than a block may')
  // Short runs are the rule, and a call costs more than they do.
  if (count > 32) window.bytes.set(literals.subarray(from, from + count), window.at)
  else
    for (let index = 0; index < count; index += 1) window.bytes[window.at + index] = literals[from + index]!
  window.at += count
}

/** The copy may reach into itself: then what it has just written repeats. */
function copyEarlier(window: Window, offset: number, count: number): void {
  const { bytes, at } = window
  if (offset < 1 || offset > at || offset > window.reach || at + count > window.limit)
    throw new ZstdError('a copy reaches beyond what there is')
  if (offset >= count && count > 32) bytes.copyWithin(at, at - offset, at - offset + count)
  else for (let index = at; index < at + count; index += 1) bytes[index] = bytes[index - offset]!
  window.at += count
}
