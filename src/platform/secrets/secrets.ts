// Secrets at rest: AES-256-GCM under a versioned key, bound to the place they are stored in; and keyed fingerprints.
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { isSameText } from '../../lib/same-text.ts'

/** Moving a sealed value to another table, row or column makes it unreadable. */
export type SealedCell = { table: string; row: string; column: string }

export type Secrets = {
  seal(plain: string, place: SealedCell): string
  open(sealed: string, place: SealedCell): string
  /** True when the value was sealed under a key that is no longer the current one. */
  isOutdated(sealed: string): boolean
  /** Same input, same text, useless without our key. */
  fingerprint(purpose: string, ...parts: (string | Buffer)[]): string
  /** Whether a fingerprint was made by the current or the previous key. */
  matches(fingerprint: string, purpose: string, ...parts: (string | Buffer)[]): boolean
}

const VERSION = 'v1'

type Key = { id: string; encryption: Buffer; signing: Buffer }

export function openSecrets(current: string, previous: string | null): Secrets {
  const now = deriveKey(current)
  const keys = previous === null ? [now] : [now, deriveKey(previous)]
  return {
    seal(plain, place) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', now.encryption, nonce)
      cipher.setAAD(boundTo(place))
      const box = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${VERSION}.${now.id}.${box.toString('base64url')}`
    },
    open(sealed, place) {
      const [version, keyId, text] = sealed.split('.')
      const key = keys.find((candidate) => candidate.id === keyId)
      if (version !== VERSION || !key || text === undefined) {
        throw new Error(
          'a stored secret was sealed under a key that is not configured (SECRET_KEY, SECRET_KEY_PREVIOUS)',
        )
      }
      const box = Buffer.from(text, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key.encryption, box.subarray(0, 12), {
        authTagLength: 16,
      })
      decipher.setAAD(boundTo(place))
      decipher.setAuthTag(box.subarray(-16))
      return Buffer.concat([decipher.update(box.subarray(12, -16)), decipher.final()]).toString('utf8')
    },
    isOutdated: (sealed) => sealed.split('.')[1] !== now.id,
    fingerprint: (purpose, ...parts) => sign(now, purpose, parts),
    matches: (fingerprint, purpose, ...parts) =>
      keys.some((key) => isSameText(sign(key, purpose, parts), fingerprint)),
  }
}

function deriveKey(secret: string): Key {
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', secret, 'longshore', use, 32))
  const id = createHash('sha256').update(derive('key id')).digest('hex').slice(0, 8)
  return { id, encryption: derive('encryption'), signing: derive('signing') }
}

function sign(key: Key, purpose: string, parts: (string | Buffer)[]): string {
  const hmac = createHmac('sha256', key.signing)
  // Each part is preceded by its length, so no two lists of parts read the same.
  for (const part of [purpose, ...parts]) {
    const bytes = Buffer.from(part)
    hmac.update(`${bytes.length}:`).update(bytes)
  }
  return hmac.digest('base64url')
}

function boundTo(place: SealedCell): Buffer {
  return Buffer.from(JSON.stringify([place.table, place.row, place.column]))
}
