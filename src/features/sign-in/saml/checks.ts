// Whether a verified assertion is meant for us, now, as the answer to what was asked: each rule by itself, so that an admin
// sees all that is wrong at once.
import type { XmlElement } from '../../../lib/strict-xml.ts'
import type { Check } from '../provider/way.ts'
import type { Assertion, Confirmation } from './assertion.ts'
import type { SamlCheck } from './fault.ts'

/** What an answer has to fit. `request_id` is null where the provider began. */
export type Expected = {
  idp_entity_id: string
  sp_entity_id: string
  acs_url: string
  request_id: string | null
  now: Date
}

export const GRACE_MS = 60_000

/** `response` is as it was sent, unsigned perhaps: it can only make things worse. */
export function checkAssertion(assertion: Assertion, response: XmlElement, expected: Expected): Check[] {
  const confirmation = bestConfirmation(assertion.confirmations, expected)
  return [
    checkIssuer(assertion, response, expected),
    checkAudience(assertion, expected),
    checkRecipient(confirmation, expected),
    checkDestination(response, expected),
    checkInResponseTo(confirmation, response, expected),
    checkTimes(assertion, confirmation, expected),
  ]
}

/** The one that fits if there are several, else the first: that is the one to complain about. */
function bestConfirmation(confirmations: Confirmation[], expected: Expected): Confirmation | undefined {
  const fits = (each: Confirmation) =>
    each.recipient === expected.acs_url && each.in_response_to === expected.request_id
  return confirmations.find(fits) ?? confirmations[0]
}

function checkIssuer({ issuer }: Assertion, response: XmlElement, { idp_entity_id }: Expected): Check {
  const outer = response.children.find(({ name }) => name === 'Issuer')?.text.trim() ?? issuer
  const got = issuer === idp_entity_id ? outer : issuer
  return verdict(
    'issuer',
    issuer === idp_entity_id && outer === idp_entity_id,
    `The issuer is ${shown(idp_entity_id)}.`,
    `The issuer differs: expected ${shown(idp_entity_id)} (saml_entity_id), got ${shown(got)}.`,
  )
}

function checkAudience({ audiences, unknown_conditions }: Assertion, { sp_entity_id }: Expected): Check {
  if (unknown_conditions.length > 0)
    return failed(
      'audience',
      `The assertion has a condition that is not known: ${shown(unknown_conditions[0]!)}.`,
    )
  const got = audiences.flat().map(shown).join(', ') || 'none'
  return verdict(
    'audience',
    audiences.length > 0 && audiences.every((restriction) => restriction.includes(sp_entity_id)),
    `The audience is ${shown(sp_entity_id)}.`,
    `The audience differs: expected ${shown(sp_entity_id)}, got ${got.slice(0, 400)}. Set the audience (SP entity id) at the identity provider.`,
  )
}

function checkRecipient(confirmation: Confirmation | undefined, { acs_url }: Expected): Check {
  if (!confirmation)
    return failed('recipient', 'The assertion has no subject confirmation of the bearer method.')
  return verdict(
    'recipient',
    confirmation.recipient === acs_url,
    `The recipient is ${shown(acs_url)}.`,
    `The recipient differs: expected ${shown(acs_url)}, got ${shown(confirmation.recipient)}. Set the ACS address at the identity provider.`,
  )
}

/** Left out by some providers where only the assertion is signed; then the recipient says the same. */
function checkDestination(response: XmlElement, { acs_url }: Expected): Check {
  const destination = response.attributes.get('Destination') ?? null
  return verdict(
    'destination',
    destination === null || destination === acs_url,
    destination === null ? 'The answer names no destination.' : `The destination is ${shown(acs_url)}.`,
    `The destination differs: expected ${shown(acs_url)}, got ${shown(destination)}. Set the ACS address at the identity provider.`,
  )
}

function checkInResponseTo(
  confirmation: Confirmation | undefined,
  response: XmlElement,
  { request_id }: Expected,
): Check {
  const outer = response.attributes.get('InResponseTo') ?? null
  const inner = confirmation?.in_response_to ?? null
  return verdict(
    'in_response_to',
    inner === request_id && outer === request_id,
    request_id === null
      ? 'The identity provider began this sign-in, which the domain allows.'
      : 'The answer belongs to the request of this sign-in.',
    'The answer does not belong to the request of this sign-in. Begin again from the sign-in page.',
  )
}

function checkTimes(assertion: Assertion, confirmation: Confirmation | undefined, { now }: Expected): Check {
  const starts = [assertion.not_before, confirmation?.not_before, assertion.issued_at]
  const ends = [assertion.not_on_or_after, confirmation?.not_on_or_after, assertion.session_not_on_or_after]
  if (!confirmation?.not_on_or_after) return failed('times', 'The subject confirmation has no NotOnOrAfter.')
  const start = Math.max(...starts.flatMap((each) => each?.getTime() ?? []))
  const end = Math.min(...ends.flatMap((each) => each?.getTime() ?? []))
  const clock = `this server's clock says ${now.toISOString()}`
  if (now.getTime() + GRACE_MS < start) {
    const apart_s = Math.ceil((start - now.getTime()) / 1000)
    return failed(
      'times',
      `The answer is valid from ${new Date(start).toISOString()} on, but ${clock}: the clocks are apart by ${apart_s} s or more; ${GRACE_MS / 1000} s are allowed.`,
    )
  }
  if (now.getTime() - GRACE_MS >= end)
    return failed(
      'times',
      `The answer was valid until ${new Date(end).toISOString()}, but ${clock}: it is too old, or the clocks are apart.`,
    )
  return passed('times', `The answer is valid until ${new Date(end).toISOString()}.`)
}

function shown(value: string | null): string {
  return value === null || value === '' ? 'nothing' : value.slice(0, 300)
}

function verdict(check: SamlCheck, is_passed: boolean, good: string, bad: string): Check {
  return is_passed ? passed(check, good) : failed(check, bad)
}

export function passed(check: SamlCheck, message: string): Check {
  return { check, is_passed: true, message }
}

export function failed(check: SamlCheck, message: string): Check {
  return { check, is_passed: false, message }
}
