// What claims of OpenID providers come to, as a table of cases.
import { describe, expect, it } from 'vitest'
import type { Claims } from './id-token.ts'
import { isAddressWhole, personOf, withUserinfo } from './person.ts'

const ISSUER = 'https://idp.example'
const ENTRA = 'https://login.microsoftonline.com/0f5e/v2.0'
const claimsWith = (claims: Record<string, unknown>): Claims => ({ iss: ISSUER, sub: 'ann', ...claims })
const personWith = (claims: Record<string, unknown>) => personOf(claimsWith(claims))

describe('an address counts', () => {
  it.each([
    [{ email_verified: true }, true],
    [{ email_verified: 'true' }, true],
    [{ email_verified: false }, false],
    [{ email_verified: 'false' }, false],
    [{ email_verified: 1 }, false],
    [{ email_verified: null }, false],
    [{}, false],
    [{ xms_edov: true }, false],
    [{ iss: ENTRA, xms_edov: true }, true],
    [{ iss: ENTRA, xms_edov: '1' }, true],
    [{ iss: ENTRA, xms_edov: 0 }, false],
    [{ iss: ENTRA }, false],
    [{ iss: ENTRA, xms_edov: true, email_verified: false }, false],
    [{ iss: 'https://login.microsoftonline.com.evil.example/', xms_edov: true }, false],
  ])('by %j: %s', (claims, isVouched) => {
    expect(personWith({ email: 'ann@example.com', ...claims }).is_email_vouched).toBe(isVouched)
  })

  it.each([
    ['ann@Example.COM', 'ann@example.com'],
    ['ann', null],
    [['ann@example.com'], null],
    [undefined, null],
    ['a@b.example\u0000', null],
  ])('%j is taken for %j', (email, expected) => expect(personWith({ email }).email).toBe(expected))
})

describe('userinfo', () => {
  const token = claimsWith({ email: 'ann@example.com' })
  it('is asked when the ID token does not say all of the address', () => {
    expect(
      [{}, { email: 'a' }, { email: 'a', email_verified: false }, { email: 'a', xms_edov: true }].map(
        (claims) => isAddressWhole(claimsWith(claims)),
      ),
    ).toEqual([false, false, true, true])
  })

  it('confirms its own address, never the one of the ID token', () => {
    const other = { sub: 'ann', email: 'other@example.com', email_verified: true }
    expect(withUserinfo(token, other)).toMatchObject({ email: 'other@example.com', email_verified: true })
    expect(
      withUserinfo(claimsWith({ email_verified: true }), { sub: 'ann', email: 'other@example.com' }),
    ).toMatchObject({
      email: 'other@example.com',
      email_verified: undefined,
    })
  })

  it('changes nothing else that the ID token says', () => {
    const other = {
      sub: 'ann',
      iss: 'https://evil.example',
      name: 'Ann',
      email: 'a@b.example',
      email_verified: true,
    }
    expect(withUserinfo(token, other)).toMatchObject({ iss: ISSUER, name: 'Ann' })
    expect(withUserinfo(token, { sub: 'ann', email: 'other@example.com' })).toBe(token)
  })
})

describe('names and ids', () => {
  it.each([
    [{ given_name: 'Ann', family_name: 'Bell', name: 'x' }, 'Ann', 'Bell'],
    [{ given_name: 'Ann' }, 'Ann', ''],
    [{ name: ' Ann  Bee\tBell ' }, 'Ann', 'Bee Bell'],
    [{ name: { first: 'Ann' } }, '', ''],
    [{}, '', ''],
  ])('%j', (claims, first_name, last_name) => {
    expect(personWith(claims)).toMatchObject({ first_name, last_name })
  })

  it.each(['', 'x'.repeat(256), 'a b', 'ä', 'a\u0000', 1.5, null, {}])('%j is no id', (sub) => {
    expect(() => personWith({ sub })).toThrow(/no id/)
  })
})
