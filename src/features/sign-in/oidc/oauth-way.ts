// A way in by a code, which a provider gives to the browser and takes back from us: OpenID Connect and plain OAuth.
import type { Provider, Vouched } from '../../identities/schema.ts'
import type { Check, Kept, Way, WayContext } from '../provider/way.ts'
import { shownClaims, shownText } from './shown.ts'
import { failed, Fault, passed, type Step } from './steps.ts'

/** `redirect_uri` is kept: answers to another address are not for this sign-in. */
export type Sent = { url: string; kept: Kept & { redirect_uri: string } }

/** `received`: claims or fields as the provider sent them. */
export type Person = Omit<Vouched, 'provider' | 'domain_id'> & { received: object }

/** Either throws a Fault. */
export type Protocol = {
  /** The things it looks at, in order. */
  steps: readonly Step[]
  send(context: WayContext, state: string): Promise<Sent>
  identify(context: WayContext, kept: Kept, answer: Record<string, string>): Promise<Person>
}

export function oauthWay(provider: Provider, { steps, send, identify }: Protocol): Way {
  const refusal = (error: unknown) => {
    if (!(error instanceof Fault)) throw error
    return { refused: error.refused, checks: failed(steps, error), received: error.received }
  }
  return {
    provider,
    begin: (context, state) => send(context, state).catch(refusal),
    async read(context, kept, answer) {
      try {
        assertOwnAddress(kept, answer)
        const { received, ...person } = await identify(context, kept, answer)
        return {
          vouched: { ...person, provider, domain_id: context.domain?.id ?? null },
          checks: [...passed(steps), ...addressChecks(person, received)],
          received: shownClaims(received),
        }
      } catch (error) {
        return refusal(error)
      }
    },
  }
}

/** A code of one provider must not reach another: whoever sets one up could have others' codes sent there. */
function assertOwnAddress({ redirect_uri }: Kept, { returned_to }: Record<string, string>): void {
  if (returned_to === redirect_uri) return
  throw new Fault('answer', `The answer came to ${returned_to}, and ${redirect_uri} was asked for.`)
}

/** They refuse nobody by themselves: whoever is known comes in whatever the address. */
function addressChecks({ email, is_email_vouched }: Omit<Person, 'received'>, received: object): Check[] {
  if (email === null) {
    const names = shownText(Object.keys(received).join(', '))
    return [
      { check: 'email', is_passed: false, message: `There is no e-mail address in what was sent: ${names}.` },
    ]
  }
  return [
    { check: 'email', is_passed: true, message: `The address is ${email}.` },
    is_email_vouched
      ? { check: 'email_verified', is_passed: true, message: 'The provider has confirmed the address.' }
      : {
          check: 'email_verified',
          is_passed: false,
          message: 'The provider does not say that it has confirmed the address (email_verified).',
        },
  ]
}
