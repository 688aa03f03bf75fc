// The things that are looked at when a provider answers, in their order, and what an admin reads about each.
import type { RefusalCode } from '../provider/refusals.ts'
import type { Check } from '../provider/way.ts'

/** What is said of each when it is as it should be. */
export const STEPS = {
  configuration: 'The provider is set up.',
  answer: 'The provider sent the browser back with a code.',
  tokens: 'The provider took our client id and secret, and gave tokens for the code.',
  algorithm: 'The ID token is signed by an algorithm that is allowed.',
  claims: 'The ID token says what it must.',
  time: 'The ID token is valid now.',
  issuer: 'The ID token is from this issuer.',
  audience: 'The ID token is meant for our client id.',
  authorized_party: 'The ID token was given to our client id.',
  nonce: 'The ID token belongs to this sign-in.',
  signature: 'The signature of the ID token fits a key of the issuer.',
  access_token: 'The tokens belong together.',
  profile: 'The provider said who it is.',
} as const

export type Step = keyof typeof STEPS

export const OIDC_STEPS = Object.keys(STEPS) as Step[]
/** Plain OAuth has no ID token. */
export const OAUTH_STEPS: readonly Step[] = ['configuration', 'answer', 'tokens', 'profile']

/** Something is wrong with what a provider sent: where, and for the admin of the domain, what. */
export class Fault extends Error {
  constructor(
    readonly step: Step,
    message: string,
    readonly refused: RefusalCode = 'answer_not_accepted',
    /** Claims that were read by then. */
    readonly received: Record<string, unknown> = {},
  ) {
    super(message)
  }
}

export function passed(steps: readonly Step[]): Check[] {
  return steps.map((step) => ({ check: step, is_passed: true, message: STEPS[step] }))
}

/** What came before the fault was fine; what comes after was not looked at. */
export function failed(steps: readonly Step[], { step, message }: Fault): Check[] {
  return [...passed(steps.slice(0, steps.indexOf(step))), { check: step, is_passed: false, message }]
}
