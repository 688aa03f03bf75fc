// SAML 2.0 as a way in: a signed request by redirect, a signed answer by POST.
import { expiryOf, readCertificates } from '../../domains/certificates.ts'
import { hasSaml } from '../../domains/rules.ts'
import type { DomainRow } from '../../domains/schema.ts'
import type { RefusalCode } from '../provider/refusals.ts'
import type { Check, Verdict, Way, WayContext } from '../provider/way.ts'
import { readAnswer, type Answer } from './answer.ts'
import { readAssertion, type Assertion } from './assertion.ts'
import { personOf, type Person } from './attributes.ts'
import { checkAssertion, failed, GRACE_MS, passed } from './checks.ts'
import { AnswerFault } from './fault.ts'
import { openKeys } from './keys.ts'
import { claimAssertion } from './queries.ts'
import { acsUrl, requestIdOf, requestUrl } from './request.ts'
import { verify, type Verified } from './verify.ts'

const MAX_SUBJECT = 512
const SHOWN_ATTRIBUTES = 50
const SHOWN_VALUES = 10
const SHOWN_CHARACTERS = 200

export const saml: Way = {
  provider: 'saml',

  async begin({ services, db, domain, now }, state) {
    if (!domain || !hasSaml(domain)) return { refused: 'provider_not_set_up', checks: [] }
    const { site_url } = services.settings
    const keys = await openKeys(services, db, now)
    const url = await requestUrl({ site_url, keys, domain, state })
    return { url, kept: { request_id: requestIdOf(state) } }
  },

  /** Without a `request_id` the provider began. */
  async read(context, { request_id = null }, { SAMLResponse = '' }) {
    const { domain } = context
    if (!domain || !hasSaml(domain)) return { refused: 'provider_not_set_up', checks: [], received: {} }
    try {
      const answer = readAnswer(SAMLResponse)
      const verified = await verify(answer, readCertificates(domain.saml_x509_cert!) ?? [])
      return await verdictOf(context, domain, request_id, answer, verified)
    } catch (error) {
      if (!(error instanceof AnswerFault)) throw error
      const refused = error.check === 'status' ? 'provider_refused' : 'answer_not_accepted'
      return { refused, checks: [failed(error.check, error.message)], received: {} }
    }
  },
}

async function verdictOf(
  { services, db, now }: WayContext,
  domain: DomainRow,
  request_id: string | null,
  answer: Answer,
  verified: Verified,
): Promise<Verdict> {
  const { site_url } = services.settings
  const assertion = readAssertion(verified.assertion)
  const person = personOf(assertion)
  const expected = {
    idp_entity_id: domain.saml_entity_id!,
    sp_entity_id: site_url,
    acs_url: acsUrl(site_url),
    request_id,
    now,
  }
  const checks = [
    passed('signature', 'The assertion is signed with a certificate of this domain.'),
    checkCertificate(verified, now),
    ...checkAssertion(assertion, answer.response, expected),
    checkPerson(person, assertion),
  ]
  // Only what would be let in is used up: a refused answer can be looked at again.
  if (checks.every(({ is_passed }) => is_passed)) checks.push(await checkReplay(db, domain, assertion))
  const received = shownOf(assertion)
  const refused = refusalOf(checks)
  if (refused) return { refused, checks, received }
  const vouched = {
    provider: 'saml' as const,
    issuer: assertion.issuer,
    ...person,
    is_email_vouched: true,
    domain_id: domain.id,
  }
  return { vouched, checks, received }
}

function refusalOf(checks: Check[]): RefusalCode | null {
  const wrong = checks.filter(({ is_passed }) => !is_passed).map(({ check }) => check)
  if (wrong.length === 0) return null
  return wrong.every((check) => check === 'email') ? 'no_email' : 'answer_not_accepted'
}

function checkCertificate({ certificate }: Verified, now: Date): Check {
  const end = expiryOf(certificate)
  return end > now
    ? passed('certificate', `The certificate is valid until ${end.toISOString()}.`)
    : failed(
        'certificate',
        `The certificate of the identity provider expired on ${end.toISOString()}. Put its new one into saml_x509_cert.`,
      )
}

function checkPerson({ email, subject }: Person, { attributes }: Assertion): Check {
  if (subject.length > MAX_SUBJECT) return failed('email', 'The name id is too long.')
  if (email !== null) return passed('email', `The address is ${email}.`)
  const seen = [...attributes.keys()]
    .slice(0, SHOWN_ATTRIBUTES)
    .map((name) => name.slice(0, SHOWN_CHARACTERS))
  return failed(
    'email',
    `No attribute holds an e-mail address; one named "email" will do. Seen attributes: ${seen.join(', ') || 'none'}.`,
  )
}

async function checkReplay(db: WayContext['db'], domain: DomainRow, assertion: Assertion): Promise<Check> {
  const ends = assertion.confirmations.flatMap(({ not_on_or_after }) => not_on_or_after?.getTime() ?? [])
  const expires_at = new Date(Math.max(...ends) + GRACE_MS)
  const isFirst =
    assertion.id !== '' &&
    (await claimAssertion(db, domain.id, assertion.id.slice(0, MAX_SUBJECT), expires_at))
  return isFirst
    ? passed('replay', 'The assertion is used for the first time.')
    : failed('replay', 'The assertion was used before.')
}

/** For the log of sign-ins and the page of a test. */
function shownOf({ issuer, name_id, attributes }: Assertion): Record<string, unknown> {
  const short = (text: string) => text.slice(0, SHOWN_CHARACTERS)
  const shown = [...attributes].slice(0, SHOWN_ATTRIBUTES)
  return {
    issuer: short(issuer),
    name_id: short(name_id?.value ?? ''),
    name_id_format: short(name_id?.format ?? ''),
    attributes: Object.fromEntries(
      shown.map(([name, values]) => [short(name), values.slice(0, SHOWN_VALUES).map(short)]),
    ),
  }
}
