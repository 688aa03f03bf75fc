// The server's own key pair over the years: which one signs, which ones are shown, and what a change of the secret does.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { openSecrets } from '../../../platform/secrets/secrets.ts'
import { openKeys, renewSamlKey, signingKey } from './keys.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const NOW = new Date('2026-01-01T00:00:00Z')
const inDays = (days: number) => new Date(NOW.getTime() + days * DAY_MS)

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

const open = (at: Date) => openKeys(app.services, app.db, at)
const renew = (at: Date, services = app.services) => renewSamlKey.handle(services, {}, at)
const count = async () => (await app.db.rows(sql`SELECT FROM saml_key`)).length

describe('the key of the server', () => {
  it('is made once, when it is needed, and stored sealed', async () => {
    await renew(NOW)
    expect(await count()).toBe(0)
    const all = await Promise.all([open(NOW), open(NOW), open(NOW)])
    expect(new Set(all.map(({ private_key }) => private_key)).size).toBe(1)
    expect(await count()).toBe(1)
    const { private_key, certificates } = all[0]
    app.canary.plant('private key', private_key)
    const certificate = new X509Certificate(certificates[0]!)
    expect(certificate.subject).toBe('CN=longshore.test')
    expect(certificate.checkPrivateKey(createPrivateKey(private_key))).toBe(true)
    expect(certificate.verify(certificate.publicKey)).toBe(true)
    expect(new Date(certificate.validTo)).toEqual(inDays(5 * 365))
  })

  it('is renewed before it ends: both are shown, and the old one signs for another month', async () => {
    const first = await open(NOW)
    await renew(inDays(5 * 365 - 91))
    expect(await count()).toBe(1)
    await renew(inDays(5 * 365 - 89))
    await renew(inDays(5 * 365 - 88))
    expect(await count()).toBe(2)
    const overlap = await open(inDays(5 * 365 - 60))
    expect(overlap.private_key).toBe(first.private_key)
    expect(overlap.certificates).toHaveLength(2)
    const changed = await open(inDays(5 * 365 - 59))
    expect(changed.private_key).not.toBe(first.private_key)
    expect(changed.certificates).toEqual(overlap.certificates.toReversed())
    await renew(inDays(5 * 365))
    expect((await open(inDays(5 * 365))).certificates).toEqual([changed.certificates[0]])
  })

  it('is sealed anew after a change of the secret', async () => {
    const now = inDays(5 * 365)
    const { private_key } = await open(now)
    const old = app.services.secrets
    const secrets = { ...openSecrets('another secret of thirty-two characters', null), open: old.open }
    await renew(now, { ...app.services, secrets })
    const { sealed_private_key, id } = await app.db.only<{ sealed_private_key: string; id: string }>(
      sql`SELECT * FROM saml_key`,
    )
    const place = { table: 'saml_key', row: id, column: 'sealed_private_key' }
    expect(() => old.open(sealed_private_key, place)).toThrow('not configured')
    expect(openSecrets('another secret of thirty-two characters', null).open(sealed_private_key, place)).toBe(
      private_key,
    )
  })
})

describe('signingKey', () => {
  const made = (...days: number[]) => days.map((day) => ({ created_at: inDays(day) }))
  it.each([
    ['the only one, however new', made(0), 0],
    ['the oldest while none was shown for a month', made(-29, -10), 0],
    ['the newest that was shown for a month', made(-100, -30, -10), 1],
  ])('%s', (_case, rows, index) => {
    expect(signingKey(rows, NOW)).toBe(rows[index])
  })
})
