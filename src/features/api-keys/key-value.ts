// The key itself: made at random, kept only as a hash, recognisable by its prefix and its last four characters.
import { createHash } from 'node:crypto'
import { randomBase62 } from '../../lib/base62.ts'

export const PERSONAL_PREFIX = 'phx_'
const SERVICE_PREFIX = 'lsk_'
const RANDOM_BYTES = 35

export type KeyValue = { value: string; value_hash: string; mask_value: string }

export function newPersonalKey(): KeyValue {
  return keyValue(PERSONAL_PREFIX + randomBase62(RANDOM_BYTES))
}

export function newServiceKey(): KeyValue {
  return keyValue(SERVICE_PREFIX + randomBase62(RANDOM_BYTES))
}

export function keyValue(value: string): KeyValue {
  return { value, value_hash: hashKey(value), mask_value: `${value.slice(0, 4)}...${value.slice(-4)}` }
}

/** No salt and no slow hash: 280 random bits cannot be guessed, and the look-up needs one fixed text. */
export function hashKey(value: string): string {
  return `sha256$${createHash('sha256').update(value).digest('hex')}`
}
