// UUIDs: time-ordered ones for rows, random ones where the id itself is a secret, and the shape test for path ids.
import { randomBytes, randomUUID } from 'node:crypto'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Any 128-bit id in the usual spelling: PostHog's older ids carry no version bits, so none are demanded. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** Version 7: rows made later sort later, so primary keys stay append-only in their index. */
export function uuid7(now: Date): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(now.getTime(), 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Version 4: 122 random bits, nothing to guess from a neighbour's id. */
export function randomUuid(): string {
  return randomUUID()
}
