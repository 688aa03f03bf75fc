// Tells of an id whether a file of events may have it, by reading 64 bytes: a Bloom filter in blocks, so that one read
// answers. Sixteen bits for each id let one of some two thousand strangers pass, and then the file itself is asked.
import { closeSync, openSync, readSync } from 'node:fs'

const BLOCK_BYTES = 64
const BITS_PER_ID = 16
const PROBES = 8

/** `ids` as `idAt` gives them. */
export function buildIdFilter(ids: Iterable<string>, count: number): Buffer {
  const blocks = Math.max(1, Math.ceil((count * BITS_PER_ID) / (BLOCK_BYTES * 8)))
  const filter = Buffer.alloc(blocks * BLOCK_BYTES)
  for (const id of ids) {
    const [place, probe, step] = hashesOf(id)
    const start = (place % blocks) * BLOCK_BYTES
    for (let index = 0; index < PROBES; index++) {
      const bit = bitOf(probe, step, index)
      filter[start + (bit >>> 3)]! |= 1 << (bit & 7)
    }
  }
  return filter
}

/** Those of the ids that the file may have; none is left out that it has. */
export function idsThatMayBe<Id extends { id: string }>(
  path: string,
  bytes: number,
  ids: readonly Id[],
): Id[] {
  const file = openSync(path, 'r')
  const block = Buffer.alloc(BLOCK_BYTES)
  try {
    return ids.filter(({ id }) => {
      const [place, probe, step] = hashesOf(id)
      readSync(file, block, 0, BLOCK_BYTES, (place % (bytes / BLOCK_BYTES)) * BLOCK_BYTES)
      for (let index = 0; index < PROBES; index++) {
        const bit = bitOf(probe, step, index)
        if ((block[bit >>> 3]! & (1 << (bit & 7))) === 0) return false
      }
      return true
    })
  } finally {
    closeSync(file)
  }
}

const bitOf = (probe: number, step: number, index: number) =>
  ((probe + Math.imul(index, step)) >>> 0) & (BLOCK_BYTES * 8 - 1)

/** Ids may be made one after the other, or by whoever wants them to fall together: all of their bytes count. */
function hashesOf(id: string): [number, number, number] {
  let [one, other] = [0x811c_9dc5, 0x9747_b28c]
  for (let index = 0; index < id.length; index++) {
    const byte = id.charCodeAt(index)
    one = Math.imul(one ^ byte, 0x0100_0193)
    other = Math.imul(other ^ byte, 0x5bd1_e995) + 0x2545_f491
  }
  const mixed = mix(one)
  return [mixed, mix(other), (mix(mixed ^ other) | 1) >>> 0]
}

function mix(hash: number): number {
  let value = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2_ae35)
  return (value ^ (value >>> 16)) >>> 0
}
