// What the library says is wrong, in words that the admin of a domain can act on.
import * as oidc from 'openid-client'
import { isObject } from '../../../lib/json-object.ts'
import { OutboundFailed, OutboundRefused } from '../../../platform/outbound/errors.ts'
import { shownClaims, shownText } from './shown.ts'
import { Fault, type Step } from './steps.ts'

/** `during`: what was under way. */
export function toFault(error: unknown, during: Step): Fault {
  if (error instanceof Fault) return error
  const causes = chainOf(error)
  const unreached = causes.find(isUnreached)
  if (unreached) {
    return new Fault(
      during,
      `The provider could not be called. ${sentenceOf(unreached)}`,
      'provider_unreachable',
    )
  }
  for (const cause of causes) {
    if (cause instanceof oidc.AuthorizationResponseError) return refusedThere(cause)
    if (cause instanceof oidc.ResponseBodyError) return notExchanged(cause)
  }
  // The library's own words are in the innermost error, and beside them what they are about.
  const { message, cause: facts } = causes.at(-1) ?? new Error('unknown')
  if (isObject(facts) && isObject(facts.body) && facts.body.error) return notExchanged(facts.body)
  if (isObject(facts) && isObject(facts.claims)) return aboutClaims(facts as Facts, message)
  if (facts instanceof Response) return badStatus(facts, during)
  if (during === 'tokens' && isObject(facts) && isObject(facts.header))
    return badAlgorithm(facts.header, message)
  return new Fault(during, `The answer of the provider cannot be used: ${shownText(message)}.`)
}

type Facts = { claims: Record<string, unknown>; claim?: string; expected?: unknown; now?: number }

function chainOf(error: unknown): Error[] {
  const chain: Error[] = []
  for (let each = error; each instanceof Error && chain.length < 5; each = each.cause) {
    // Quotes what it could not parse, which may be a token.
    if (each instanceof SyntaxError) break
    chain.push(each)
  }
  return chain
}

function isUnreached(error: Error): boolean {
  return (
    error instanceof OutboundRefused ||
    error instanceof OutboundFailed ||
    error.name === 'TimeoutError' ||
    error.name === 'AbortError'
  )
}

function sentenceOf(error: Error): string {
  return error.name === 'TimeoutError' ? 'It took longer than its time limit.' : error.message
}

function refusedThere({ error, error_description }: oidc.AuthorizationResponseError): Fault {
  return new Fault(
    'answer',
    `The provider refused: ${named(error, error_description)}. Its own log tells why.`,
    'provider_refused',
  )
}

export function badStatus({ status }: Response, during: Step): Fault {
  const what = status === 200 ? 'something else than JSON' : `status ${status}`
  const refused = status >= 500 ? 'provider_unreachable' : 'answer_not_accepted'
  return new Fault(during, `The provider answered with ${what}.`, refused)
}

function badAlgorithm({ alg }: Record<string, unknown>, message: string): Fault {
  return new Fault('algorithm', `The ID token is signed by ${shownText(alg)}: ${shownText(message)}.`)
}

/** GitHub says so with status 200. */
function notExchanged({ error, error_description }: { error?: unknown; error_description?: unknown }): Fault {
  const hint =
    error === 'invalid_client' || error === 'unauthorized_client'
      ? 'Check the client id and secret.'
      : 'A code can be used once, for a short time, with the redirect address it was made for.'
  return new Fault('tokens', `The provider gave no tokens: ${named(error, error_description)}. ${hint}`)
}

function named(error: unknown, description: unknown): string {
  return description ? `${shownText(error)} (${shownText(description)})` : shownText(error)
}

const CLAIM_STEPS: Record<string, Step> = {
  iss: 'issuer',
  aud: 'audience',
  azp: 'authorized_party',
  nonce: 'nonce',
  exp: 'time',
  nbf: 'time',
  iat: 'time',
}

function aboutClaims({ claims, claim, expected, now }: Facts, message: string): Fault {
  const step = CLAIM_STEPS[claim ?? ''] ?? 'claims'
  const fault = (text: string) => new Fault(step, text, 'answer_not_accepted', shownClaims(claims))
  const got = claims[claim ?? '']
  if (step === 'time' && typeof got === 'number' && now !== undefined) return fault(apart(claim!, got - now))
  // What belongs to this sign-in alone stays here.
  if (step === 'nonce') return fault('The ID token is of another sign-in: its nonce differs.')
  if (expected === undefined) return fault(`The ID token cannot be used: ${shownText(message)}.`)
  return fault(`${claim} of the ID token differs: expected ${shownText(expected)}, got ${shownText(got)}.`)
}

/** Also for `iat`, which the library takes as it is. */
export function apart(claim: string, seconds: number): string {
  const amount = `${Math.round(Math.abs(seconds))} seconds`
  const what = claim === 'exp' ? `expired ${amount} ago` : `is from ${amount} ahead`
  return `The ID token ${what}. If it was made just now, the clocks of provider and server are that far apart.`
}
