// Who a provider says is there, in the form that we keep. What providers send is taken for nothing but text.
import { storableText } from '../../../lib/storable-text.ts'
import { email } from '../../../platform/http/fields.ts'
import type { Person } from './oauth-way.ts'
import type { Claims } from './id-token.ts'
import { Fault } from './steps.ts'

const MAX_NAME_BYTES = 128

/** The person that an ID token speaks of. Throws a Fault. */
export function personOf(claims: Claims): Person {
  const { iss, given_name, family_name, name } = claims
  return {
    issuer: iss,
    subject: subjectOf(claims.sub),
    email: addressOf(claims.email),
    is_email_vouched: isVouched(claims),
    ...(given_name ? { first_name: nameOf(given_name), last_name: nameOf(family_name) } : splitName(name)),
    received: claims,
  }
}

/** The address, and whether it was confirmed. */
export function isAddressWhole({ email: address, email_verified, xms_edov }: Claims): boolean {
  return address !== undefined && (email_verified ?? xms_edov) !== undefined
}

/** What the ID token says counts. Address and confirmation come from one of the two: the other may mean another address. */
export function withUserinfo(claims: Claims, userinfo: Record<string, unknown>): Claims {
  const { email: address, email_verified } = userinfo
  if (claims.email !== undefined && email_verified === undefined) return claims
  return { ...userinfo, ...claims, email: address, email_verified }
}

/** At most 255 characters of printable ASCII (OpenID Connect Core §2). Others number their people. Throws a Fault. */
export function subjectOf(id: unknown): string {
  const text = Number.isSafeInteger(id) ? String(id) : id
  if (typeof text === 'string' && /^[\x21-\x7e]{1,255}$/.test(text)) return text
  throw new Fault('profile', 'The provider gave no id of the person that can be used.')
}

export function addressOf(value: unknown): string | null {
  return email().safeParse(value).data ?? null
}

export function splitName(value: unknown): Pick<Person, 'first_name' | 'last_name'> {
  const [first = '', ...rest] = nameOf(value).split(' ')
  return { first_name: first, last_name: rest.join(' ') }
}

function nameOf(value: unknown): string {
  if (typeof value !== 'string') return ''
  return storableText(
    value
      .slice(0, 4 * MAX_NAME_BYTES)
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
    MAX_NAME_BYTES,
  )
}

/** Microsoft has no `email_verified`; `xms_edov` says that the directory owns the domain of the address. */
function isVouched({ iss, email_verified, xms_edov }: Claims): boolean {
  if (email_verified !== undefined) return email_verified === true || email_verified === 'true'
  const isMicrosoft = new URL(iss).host === 'login.microsoftonline.com'
  return isMicrosoft && [true, 'true', 1, '1'].some((yes) => yes === xms_edov)
}
