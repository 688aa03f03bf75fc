// Tells of an id whether a file of events may have it: a Bloom filter in blocks, so that one read answers. Thirty-two bits
// for each id let one of some fifty thousand strangers pass, and then the file itself is asked. Older filters have sixteen.
import { closeSync, openSync, readSync } from 'node:fs'
import { groupBy } from '../../../../lib/group-by.ts'

const BLOCK_BYTES = 64
const BITS_PER_ID = 32
const PROBES = 8
/** What is read at once: of ids that are asked for together, many lie in the same piece. */
const PIECE_BYTES = 16 * 1024

/** At the end of those whose probes have nothing to do with each other: older ones are blocks alone. */
const MARK_BYTES = 1

/** `ids` as `idAt` gives them. */
export function buildIdFilter(ids: Iterable<string>, count: number): Buffer {
  const blocks = Math.max(1, Math.ceil((count * BITS_PER_ID) / (BLOCK_BYTES * 8)))
  const filter = Buffer.alloc(blocks * BLOCK_BYTES + MARK_BYTES)
  for (const id of ids) {
    const hashes = hashesOf(id)
    const start = (hashes[0] % blocks) * BLOCK_BYTES
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = bitAt(hashes, probe)
      filter[start + (bit >>> 3)]! |= 1 << (bit & 7)
    }
  }
  return filter
}

/** How often a filter of so many bytes is read for so many ids, at most. */
export function readsFor(bytes: number, ids: number): number {
  return Math.min(ids, Math.ceil(bytes / PIECE_BYTES))
}

/** Those of the ids that the file may have; none is left out that it has. */
export function idsThatMayBe<Id extends { id: string }>(
  path: string,
  bytes: number,
  ids: readonly Id[],
): Id[] {
  const blocks = Math.floor(bytes / BLOCK_BYTES)
  const bitOf = bytes % BLOCK_BYTES === 0 ? oldBitAt : bitAt
  const placed = ids.map((id) => {
    const hashes = hashesOf(id.id)
    return { id, at: (hashes[0] % blocks) * BLOCK_BYTES, hashes }
  })
  const file = openSync(path, 'r')
  const piece = Buffer.alloc(Math.min(bytes, PIECE_BYTES))
  try {
    return [...groupBy(placed, ({ at }) => Math.floor(at / PIECE_BYTES)).values()].flatMap((there) => {
      const from = there.reduce((least, { at }) => Math.min(least, at), Infinity)
      const end = there.reduce((most, { at }) => Math.max(most, at + BLOCK_BYTES), 0)
      readSync(file, piece, 0, end - from, from)
      return there.filter(({ at, hashes }) => hasAll(piece, at - from, hashes, bitOf)).map(({ id }) => id)
    })
  } finally {
    closeSync(file)
  }
}

type Hashes = readonly [number, number, number]

function hasAll(piece: Buffer, block: number, hashes: Hashes, bitOf: typeof bitAt): boolean {
  for (let probe = 0; probe < PROBES; probe++) {
    const bit = bitOf(hashes, probe)
    if ((piece[block + (bit >>> 3)]! & (1 << (bit & 7))) === 0) return false
  }
  return true
}

/** A place in a block: nine bits of a hash, which has three times as many. */
function bitAt([, one, other]: Hashes, probe: number): number {
  const hash = probe < 3 ? one : probe < 6 ? other : mix(one ^ Math.imul(other, 0x9e37_79b1))
  return (hash >>> (9 * (probe % 3))) & (BLOCK_BYTES * 8 - 1)
}

/** Steps of one length: many ids have the same places, however large the filter is. */
function oldBitAt([, one, other]: Hashes, probe: number): number {
  return ((one + Math.imul(probe, other | 1)) >>> 0) & (BLOCK_BYTES * 8 - 1)
}

/** Ids may be made one after the other, or by whoever wants them to fall together: all of their bytes count. */
function hashesOf(id: string): Hashes {
  let [one, other] = [0x811c_9dc5, 0x9747_b28c]
  for (let index = 0; index < id.length; index++) {
    const byte = id.charCodeAt(index)
    one = Math.imul(one ^ byte, 0x0100_0193)
    other = Math.imul(other ^ byte, 0x5bd1_e995) + 0x2545_f491
  }
  const mixed = mix(one)
  return [mixed, mix(other), mix(mixed ^ other)]
}

function mix(hash: number): number {
  let value = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2_ae35)
  return (value ^ (value >>> 16)) >>> 0
}
