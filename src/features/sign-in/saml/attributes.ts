// Who an assertion is about: providers name the same three things in a dozen ways.
import type { Assertion } from './assertion.ts'
import { EMAIL_FORMAT, TRANSIENT_FORMAT } from './names.ts'

export type Person = { email: string | null; first_name: string; last_name: string; subject: string }

const CLAIMS = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/'
/** In lower case. Names, OIDs and the addresses that ADFS and Entra ID use. */
const EMAIL = [
  'email',
  'mail',
  'emailaddress',
  'email_address',
  'user.email',
  'urn:oid:0.9.2342.19200300.100.1.3',
  'urn:oid:1.2.840.113549.1.9.1',
  `${CLAIMS}emailaddress`,
  'http://schemas.xmlsoap.org/claims/emailaddress',
]
const FIRST_NAME = [
  'first_name',
  'firstname',
  'givenname',
  'given_name',
  'user.firstname',
  'urn:oid:2.5.4.42',
  `${CLAIMS}givenname`,
]
const LAST_NAME = [
  'last_name',
  'lastname',
  'surname',
  'sn',
  'familyname',
  'family_name',
  'user.lastname',
  'urn:oid:2.5.4.4',
  `${CLAIMS}surname`,
]
const ADDRESS = /^[^\s@]{1,64}@[^\s@]{1,190}$/
const MAX_NAME = 128

/** A name id that changes with every sign-in, or is the address itself, tells nobody apart: the address does. */
export function personOf({ attributes, name_id }: Assertion): Person {
  const named = name_id?.value ?? ''
  const given = firstOf(attributes, EMAIL)
  const candidates = name_id?.format === TRANSIENT_FORMAT ? [given] : [given, named]
  const email = candidates.find((value) => ADDRESS.test(value)) ?? null
  const isStable = name_id !== null && ![EMAIL_FORMAT, TRANSIENT_FORMAT].includes(name_id.format)
  return {
    email,
    first_name: firstOf(attributes, FIRST_NAME).slice(0, MAX_NAME),
    last_name: firstOf(attributes, LAST_NAME).slice(0, MAX_NAME),
    subject: (isStable && named) || (email ?? ''),
  }
}

/** By the order of `names`, not by that of the assertion. */
function firstOf(attributes: Assertion['attributes'], names: readonly string[]): string {
  const byName = new Map([...attributes].map(([name, values]) => [name.toLowerCase(), values]))
  for (const name of names) {
    const value = byName.get(name)?.find((each) => each !== '')
    if (value !== undefined) return value
  }
  return ''
}
