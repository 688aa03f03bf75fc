// UUIDs: time-ordered ones for rows, random ones where the id itself is a secret, ones that follow from a name, and the
// shape test for path ids.
import { createHash, randomUUID } from 'node:crypto'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Any 128-bit id in the usual spelling: PostHog's older ids carry no version bits, so none are demanded. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** Dashes are optional, as in the API, and it comes back in lower case. Null when it is none. */
export function readUuid(text: string): string | null {
  const dashed = text.replace(/^(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$/, '$1-$2-$3-$4-$5').toLowerCase()
  return isUuid(dashed) ? dashed : null
}

/** Version 7: rows made later sort later, so primary keys stay append-only in their index. */
export function uuid7(now: Date): string {
  const time = now.getTime().toString(16).padStart(12, '0')
  // Node draws random bits for these in bulk: a tenth of what drawing them one by one costs.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** Version 5: the same name in the same namespace gives the same id, everywhere and always. */
export function uuid5(namespace: string, name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
  return written(hash.digest().subarray(0, 16), 5)
}

/** Version 4: 122 random bits, nothing to guess from a neighbour's id. */
export function randomUuid(): string {
  return randomUUID()
}

function written(bytes: Buffer, version: number): string {
  bytes[6] = (bytes[6]! & 0x0f) | (version << 4)
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
