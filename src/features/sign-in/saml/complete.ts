// An answer that a provider had a browser post here. It comes from another site, hence without our cookies: what it comes to
// is kept with the attempt, and the browser fetches it by a GET that shows who began.
import { isUuid } from '../../../lib/uuid.ts'
import { seeOther } from '../../../platform/http/route.ts'
import { findDomainById } from '../../domains/queries.ts'
import type { DomainRow } from '../../domains/schema.ts'
import { keepVerdict, newState, openAttempt, peekAttempt } from '../provider/attempts.ts'
import { refuse, type Returning } from '../provider/finish.ts'
import type { Kept, Verdict } from '../provider/way.ts'
import { readResponse } from './answer.ts'
import { failed } from './checks.ts'
import { AnswerFault } from './fault.ts'
import { stateOf } from './request.ts'
import { saml } from './way.ts'

export type Posted = { SAMLResponse: string; RelayState?: string | undefined }
type Visit = Omit<Returning, 'caller'>

export async function receiveAnswer(visit: Visit, posted: Posted) {
  const domain = await findNamed(visit, posted.RelayState)
  const about = { provider: 'saml' as const, domain_id: domain?.id ?? null, purpose: 'sign-in' as const }
  const answered = requestOf(posted.SAMLResponse)
  if (answered instanceof AnswerFault)
    return refuse(visit, about, 'answer_not_accepted', { checks: [failed(answered.check, answered.message)] })
  if (answered.request_id === null) return receiveUnasked(visit, domain, posted)
  const state = stateOf(answered.request_id)
  const found = await peekAttempt(visit, 'saml', state)
  if (!found)
    return refuse(visit, about, 'attempt_unknown', {
      checks: [
        failed('in_response_to', 'The answer is to a request that is unknown, too old or answered already.'),
      ],
    })
  // The domain is the attempt's, whatever the relay state says.
  const asked = (await findDomainById(visit.db, found.attempt.domain_id!)) ?? null
  await keepVerdict(visit, found.attempt, await readFor(visit, asked, found.kept, posted))
  return seeOther(completeAt(state))
}

/** The provider began: there is no request to hold the answer against, so the domain has to allow it. */
async function receiveUnasked(visit: Visit, domain: DomainRow | undefined, posted: Posted) {
  const about = { provider: 'saml' as const, domain_id: domain?.id ?? null, purpose: 'sign-in' as const }
  if (!domain?.verified_at || !domain.saml_allow_idp_initiated)
    return refuse(visit, about, 'answer_not_accepted', {
      checks: [
        failed(
          'in_response_to',
          'The identity provider began this sign-in by itself, which the domain does not allow (saml_allow_idp_initiated), or its relay state is not the id of a domain.',
        ),
      ],
    })
  const verdict = await readFor(visit, domain, {}, posted)
  if ('refused' in verdict) return refuse(visit, about, verdict.refused, verdict)
  const state = newState()
  const cookie = await openAttempt(visit, { ...about, next: '/' }, state, {})
  const opened = await peekAttempt(visit, 'saml', state)
  await keepVerdict(visit, opened!.attempt, verdict)
  return { ...seeOther(completeAt(state)), cookie }
}

async function readFor(
  { services, db, now, request }: Visit,
  domain: DomainRow | null,
  kept: Kept,
  { SAMLResponse }: Posted,
): Promise<Verdict> {
  return saml.read({ services, db, domain, now, signal: request.signal }, kept, { SAMLResponse })
}

function completeAt(state: string): string {
  return `/complete/saml/?${new URLSearchParams({ state }).toString()}`
}

function requestOf(encoded: string): { request_id: string | null } | AnswerFault {
  try {
    return { request_id: readResponse(encoded).response.attributes.get('InResponseTo') ?? null }
  } catch (error) {
    if (error instanceof AnswerFault) return error
    throw error
  }
}

async function findNamed({ db }: Visit, relayState: string | undefined): Promise<DomainRow | undefined> {
  return relayState !== undefined && isUuid(relayState) ? findDomainById(db, relayState) : undefined
}
