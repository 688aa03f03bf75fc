// Chance under control: while a simulation runs, ids and delays follow from its seed, so that a seed repeats itself.
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

/** Until the function it gives is called. */
export function fixChance(seed: number): () => void {
  const { randomUUID } = crypto
  const { random } = Math
  let count = 0
  crypto.randomUUID = () => idOf(seed, ++count)
  // One number for all: the order in which delays are drawn may hang on the disk.
  const chance = mixed(seed) / 2 ** 32
  Math.random = () => chance
  syncBuiltinESMExports()
  return () => {
    crypto.randomUUID = randomUUID
    Math.random = random
    syncBuiltinESMExports()
  }
}

type Uuid = ReturnType<typeof crypto.randomUUID>

/** Never the same twice, and in no order. */
function idOf(seed: number, count: number): Uuid {
  const hash = mixed(mixed(seed) ^ count)
    .toString(16)
    .padStart(8, '0')
  return `00000000-0000-4${hash.slice(0, 3)}-8000-${hash}${count.toString(16).padStart(4, '0')}`
}

function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x45d9f3b)
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return (hash ^ (hash >>> 16)) >>> 0
}
