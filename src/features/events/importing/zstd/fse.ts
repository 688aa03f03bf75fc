// Finite state entropy: tables in which the next state depends on the symbol and some bits (RFC 8878, section 4.1).
import { ForwardBits, ZstdError, type BackwardBits } from './bits.ts'

export type FseTable = {
  accuracy: number
  symbols: Uint8Array
  bits: Uint8Array
  base: Uint16Array
}

/** A table as a block brings it along, and where in the block it ends. */
export function readFseTable(
  bytes: Uint8Array,
  from: number,
  maxAccuracy: number,
  maxSymbol: number,
): { table: FseTable; end: number } {
  const input = new ForwardBits(bytes, from)
  const accuracy = input.read(4) + 5
  if (accuracy > maxAccuracy) throw new ZstdError('a table is larger than allowed')
  const shares: number[] = []
  let remaining = 1 << accuracy
  while (remaining > 0) {
    const share = readShare(input, remaining)
    shares.push(share)
    remaining -= Math.abs(share)
    if (share === 0) {
      for (let repeat = 3; repeat === 3;) {
        repeat = input.read(2)
        for (let index = 0; index < repeat; index += 1) shares.push(0)
      }
    }
    if (shares.length > maxSymbol + 1) throw new ZstdError('a table has too many symbols')
  }
  return { table: makeFseTable(shares, accuracy), end: input.end }
}

/** Between 0 and `remaining`, or -1: small values take one bit less than large ones. */
function readShare(input: ForwardBits, remaining: number): number {
  const width = 32 - Math.clz32(remaining + 1)
  const value = input.peek(width)
  const low = value & ((1 << (width - 1)) - 1)
  const threshold = (1 << width) - 1 - (remaining + 1)
  if (low < threshold) {
    input.skip(width - 1)
    return low - 1
  }
  input.skip(width)
  return (value >= 1 << (width - 1) ? value - threshold : value) - 1
}

/** A share of -1 stands for a symbol rarer than one state: it gets one, from the end of the table. */
export function makeFseTable(shares: readonly number[], accuracy: number): FseTable {
  const size = 1 << accuracy
  const symbols = new Uint8Array(size)
  const next = new Uint16Array(shares.length)
  let high = size - 1
  for (const [symbol, share] of shares.entries()) {
    next[symbol] = Math.max(share, share === -1 ? 1 : 0)
    if (share === -1) symbols[high--] = symbol
  }
  const step = (size >> 1) + (size >> 3) + 3
  let at = 0
  for (const [symbol, share] of shares.entries()) {
    for (let count = 0; count < share; count += 1) {
      symbols[at] = symbol
      do at = (at + step) & (size - 1)
      while (at > high)
    }
  }
  if (at !== 0) throw new ZstdError('the shares of a table do not add up')
  const bits = new Uint8Array(size)
  const base = new Uint16Array(size)
  for (let state = 0; state < size; state += 1) {
    const rank = next[symbols[state]!]!++
    bits[state] = accuracy - (31 - Math.clz32(rank))
    base[state] = (rank << bits[state]!) - size
  }
  return { accuracy, symbols, bits, base }
}

/** One symbol, always, for no bits at all. */
export function constantFseTable(symbol: number): FseTable {
  return {
    accuracy: 0,
    symbols: Uint8Array.of(symbol),
    bits: Uint8Array.of(0),
    base: Uint16Array.of(0),
  }
}

export function nextState(table: FseTable, state: number, input: BackwardBits): number {
  return table.base[state]! + input.read(table.bits[state]!)
}
