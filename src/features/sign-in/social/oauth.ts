// Plain OAuth 2, for hosts of code: an application of the instance gets a token, and asks their API who it belongs to.
import { createHash } from 'node:crypto'
import * as oauth from 'openid-client'
import type { z } from 'zod'
import { toFault } from '../oidc/explain.ts'
import type { Person, Protocol } from '../oidc/oauth-way.ts'
import { providerFetch } from '../oidc/provider-fetch.ts'
import { returned } from '../oidc/returned.ts'
import { Fault, OAUTH_STEPS, type Step } from '../oidc/steps.ts'
import type { WayContext } from '../provider/way.ts'
import { applicationAt, redirectUri, type SocialProvider } from './applications.ts'

/** Asks the API by its address. Throws a Fault. */
export type Ask = <Schema extends z.ZodType>(url: string, schema: Schema) => Promise<z.output<Schema>>

type Host = {
  provider: SocialProvider
  scope: string
  paths: { authorize: string; tokens: string }
  /** `issuer` is the host's address. */
  readPerson(issuer: string, ask: Ask): Promise<Person>
}

export function plainOauth(host: Host): Protocol {
  return {
    steps: OAUTH_STEPS,
    async send(context, state) {
      const redirect_uri = redirectUri(context.services, host.provider)
      const verifier = oauth.randomPKCECodeVerifier()
      const url = oauth.buildAuthorizationUrl(configure(context, host).configuration, {
        redirect_uri,
        scope: host.scope,
        state,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      })
      return { url: url.href, kept: { verifier, redirect_uri } }
    },
    // Each has an address of its own to come back to; what it calls itself there (`iss`) is nowhere documented.
    async identify(context, kept, answer) {
      const { issuer, configuration, fetch, during } = configure(context, host)
      try {
        const { access_token } = await oauth.authorizationCodeGrant(
          configuration,
          returned(kept, answer, ['code', 'error', 'error_description']),
          {
            pkceCodeVerifier: kept.verifier!,
            // The attempt was found by it, in this browser.
            expectedState: oauth.skipStateCheck,
          },
        )
        return await host.readPerson(issuer, askWith(fetch, access_token))
      } catch (error) {
        throw toFault(error, during())
      }
    },
  }
}

function configure({ services, signal }: WayContext, { provider, paths }: Host) {
  const { client_id, client_secret, base_url: issuer } = applicationAt(services, provider)
  const token_endpoint = `${issuer}${paths.tokens}`
  const configuration = new oauth.Configuration(
    { issuer, authorization_endpoint: `${issuer}${paths.authorize}`, token_endpoint },
    client_id,
    {},
    oauth.ClientSecretPost(client_secret),
  )
  const call = providerFetch(services.outbound, signal)
  let step: Step = 'answer'
  const fetch: oauth.CustomFetch = (url, options) => {
    step = url === token_endpoint ? 'tokens' : 'profile'
    return call(url, options)
  }
  configuration[oauth.customFetch] = fetch
  return { issuer, configuration, fetch, during: () => step }
}

function askWith(fetch: oauth.CustomFetch, accessToken: string): Ask {
  return async (url, schema) => {
    const headers = { accept: 'application/json', authorization: `Bearer ${accessToken}` }
    const response = await fetch(url, { method: 'GET', headers, body: undefined, redirect: 'manual' })
    if (response.status !== 200) throw new Fault('profile', `${url} answers with status ${response.status}.`)
    const read = schema.safeParse(await response.json().catch(() => null))
    if (read.success) return read.data
    throw new Fault('profile', `${url} does not answer with what its documentation says.`)
  }
}
