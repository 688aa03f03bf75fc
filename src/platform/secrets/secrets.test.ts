// Sealing and fingerprints: what can be read back, and everything that must make it fail.
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { openSecrets, type SealedCell } from './secrets.ts'

const OLD = 'an old secret key of at least 32 characters'
const NEW = 'a new secret key of at least 32 characters!'
const PLACE: SealedCell = { table: 'totp_device', row: '7', column: 'sealed_secret' }

const NOT_AUTHENTIC = /unable to authenticate/
const NOT_CONFIGURED = /sealed under a key that is not configured/

const secrets = openSecrets(NEW, null)
const rotated = openSecrets(NEW, OLD)
const before = openSecrets(OLD, null)

describe('seal and open', () => {
  it.each([
    ['text', 'JBSWY3DPEHPK3PXP'],
    ['nothing', ''],
    ['letters beyond ASCII', 'größe 🚢 \u0000 \u2028'],
    ['much', randomBytes(200_000).toString('base64')],
  ])('gives %s back', (_case, plain) => {
    expect(secrets.open(secrets.seal(plain, PLACE), PLACE)).toBe(plain)
  })

  it('shows nothing of the text, and seals it differently each time', () => {
    const plain = 'a secret that is long enough to look for'
    const sealed = Array.from({ length: 50 }, () => secrets.seal(plain, PLACE))
    expect(new Set(sealed).size).toBe(50)
    for (const text of sealed) {
      expect(text).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$/)
      expect(Buffer.from(text.split('.')[2]!, 'base64url').toString('latin1')).not.toContain(plain)
    }
  })

  it.each<[string, Partial<SealedCell>]>([
    ['table', { table: 'totp_setup' }],
    ['row', { row: '8' }],
    ['column', { column: 'other' }],
    ['cut between the parts', { table: 'totp_device7', row: '' }],
  ])('does not open in another place: %s', (_case, elsewhere) => {
    const sealed = secrets.seal('plain', PLACE)
    expect(() => secrets.open(sealed, { ...PLACE, ...elsewhere })).toThrow(NOT_AUTHENTIC)
  })

  it('does not open when any byte was altered', () => {
    const [version, id, box] = secrets.seal('plain', PLACE).split('.') as [string, string, string]
    const bytes = Buffer.from(box, 'base64url')
    for (let index = 0; index < bytes.length; index++) {
      const altered = Buffer.from(bytes)
      altered[index]! ^= 1
      expect(() => secrets.open(`${version}.${id}.${altered.toString('base64url')}`, PLACE)).toThrow(
        NOT_AUTHENTIC,
      )
    }
  })

  it.each(['', 'plain text', 'v1', 'v1.', 'v1..', 'v2.00000000.AAAA', 'v1.00000000.AAAA'])(
    'does not open %j',
    (text) => {
      expect(() => secrets.open(text, PLACE)).toThrow(NOT_CONFIGURED)
    },
  )

  it('does not open what was cut short, not even to its key id', () => {
    const sealed = secrets.seal('plain', PLACE)
    for (const length of [11, 12, 20, 40, sealed.length - 4]) {
      expect(() => secrets.open(sealed.slice(0, length), PLACE)).toThrow(Error)
    }
  })
})

describe('a change of the key', () => {
  it('opens what the previous key sealed, marks it as outdated, and seals anew under the current one', () => {
    const old = before.seal('kept', PLACE)
    expect(before.isOutdated(old)).toBe(false)
    expect(rotated.isOutdated(old)).toBe(true)
    expect(rotated.open(old, PLACE)).toBe('kept')
    const fresh = rotated.seal('kept', PLACE)
    expect(rotated.isOutdated(fresh)).toBe(false)
    expect(secrets.open(fresh, PLACE)).toBe('kept')
    expect(() => before.open(fresh, PLACE)).toThrow(NOT_CONFIGURED)
  })

  it('without the previous key, what it sealed stays shut and says which setting is missing', () => {
    const old = before.seal('lost', PLACE)
    expect(secrets.isOutdated(old)).toBe(true)
    expect(() => secrets.open(old, PLACE)).toThrow(/SECRET_KEY_PREVIOUS/)
  })

  it('matches fingerprints of both keys, and of no third', () => {
    const old = before.fingerprint('backup code', '7', 'abcd')
    expect(rotated.matches(old, 'backup code', '7', 'abcd')).toBe(true)
    expect(rotated.matches(rotated.fingerprint('backup code', '7', 'abcd'), 'backup code', '7', 'abcd')).toBe(
      true,
    )
    expect(secrets.matches(old, 'backup code', '7', 'abcd')).toBe(false)
  })
})

describe('fingerprints', () => {
  it('are the same for the same input, whether text or bytes, and say nothing', () => {
    const made = secrets.fingerprint('idempotency', '/path', Buffer.from('body'))
    expect(secrets.fingerprint('idempotency', '/path', 'body')).toBe(made)
    expect(made).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(secrets.matches(made, 'idempotency', '/path', 'body')).toBe(true)
  })

  it('differ for another purpose, key, part, order or cut', () => {
    const all = [
      secrets.fingerprint('a', 'b', 'c'),
      secrets.fingerprint('b', 'a', 'c'),
      secrets.fingerprint('a', 'c', 'b'),
      secrets.fingerprint('a', 'bc'),
      secrets.fingerprint('a', 'b', 'c', ''),
      secrets.fingerprint('a', 'b1:c'),
      secrets.fingerprint('ab', 'c'),
      before.fingerprint('a', 'b', 'c'),
    ]
    expect(new Set(all).size).toBe(all.length)
  })

  it.each(['', 'x', 'A'.repeat(43), 'ä'.repeat(43)])('%j matches nothing', (text) => {
    expect(secrets.matches(text, 'purpose', 'part')).toBe(false)
  })
})
