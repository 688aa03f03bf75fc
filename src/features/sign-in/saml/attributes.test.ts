// How providers name the same person.
import { describe, expect, it } from 'vitest'
import { personOf } from './attributes.ts'
import type { Assertion } from './assertion.ts'

const CLAIMS = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims'
const PERSISTENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'
const EMAIL = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'

function person(attributes: Record<string, string[]>, name_id: Assertion['name_id'] = null) {
  return personOf({ attributes: new Map(Object.entries(attributes)), name_id } as Assertion)
}

describe('personOf', () => {
  const ada = {
    email: 'ada@acme.example',
    first_name: 'Ada',
    last_name: 'Lovelace',
    subject: 'ada@acme.example',
  }

  it.each([
    ['PostHog', 'email', 'first_name', 'last_name'],
    ['Okta', 'Email', 'firstName', 'lastName'],
    ['OneLogin', 'User.email', 'User.FirstName', 'User.LastName'],
    ['LDAP', 'mail', 'givenName', 'sn'],
    ['OIDs', 'urn:oid:0.9.2342.19200300.100.1.3', 'urn:oid:2.5.4.42', 'urn:oid:2.5.4.4'],
    ['Entra ID and ADFS', `${CLAIMS}/emailaddress`, `${CLAIMS}/givenname`, `${CLAIMS}/surname`],
  ])('reads the names of %s', (_provider, email, first, last) => {
    expect(person({ [email]: ['ada@acme.example'], [first]: ['Ada'], [last]: ['Lovelace'] })).toEqual(ada)
  })

  it('goes by a name id that stays, and by the address otherwise', () => {
    const attributes = { email: ['ada@acme.example'] }
    const subject = (format: string, value = 'u-1') => person(attributes, { value, format }).subject
    expect(subject(PERSISTENT)).toBe('u-1')
    expect(subject('')).toBe('u-1')
    expect(subject(TRANSIENT)).toBe('ada@acme.example')
    expect(subject(EMAIL, 'old@acme.example')).toBe('ada@acme.example')
    expect(subject(PERSISTENT, '')).toBe('ada@acme.example')
  })

  it('finds the address in the name id where no attribute has one', () => {
    expect(person({}, { value: 'ada@acme.example', format: EMAIL }).email).toBe('ada@acme.example')
    expect(person({ mail: ['', 'none'] }, { value: 'ada@acme.example', format: '' }).email).toBe(
      'ada@acme.example',
    )
    expect(person({}, { value: 'ada@acme.example', format: TRANSIENT }).email).toBeNull()
    expect(person({}, { value: 'ada', format: PERSISTENT }).email).toBeNull()
    expect(person({}).email).toBeNull()
  })

  it('cuts names, and leaves keys of JavaScript alone', () => {
    expect(person({ first_name: ['x'.repeat(500)], __proto__: ['y'], constructor: ['z'] })).toEqual({
      email: null,
      first_name: 'x'.repeat(128),
      last_name: '',
      subject: '',
    })
  })
})
