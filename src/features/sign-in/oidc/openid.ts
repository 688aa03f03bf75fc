// OpenID Connect as a protocol for ways in: Google's, and those of domains.
import type { WayContext } from '../provider/way.ts'
import { authorizationUrl, claimsOf, type Client } from './client.ts'
import type { Protocol } from './oauth-way.ts'
import { personOf } from './person.ts'
import { OIDC_STEPS } from './steps.ts'

/** `clientOf` throws a Fault where nothing is set up. */
export function openid(clientOf: (context: WayContext) => Client): Protocol {
  return {
    steps: OIDC_STEPS,
    // `async` makes a rejection of what is thrown.
    send: async (context, state) => authorizationUrl(context, clientOf(context), state),
    identify: async (context, kept, answer) =>
      personOf(await claimsOf(context, clientOf(context), kept, answer)),
  }
}
