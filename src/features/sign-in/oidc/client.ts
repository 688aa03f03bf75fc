// Our side of OpenID Connect: sends a browser to an issuer, and makes sure of what comes back. The library checks answer,
// times, issuer, audience, nonce and signature; what it leaves out stands in id-token.ts.
import { createHash, randomBytes } from 'node:crypto'
import * as oidc from 'openid-client'
import type { Kept, WayContext } from '../provider/way.ts'
import { toFault } from './explain.ts'
import { assertWhole, type Claims } from './id-token.ts'
import { metadataOf, type Metadata } from './metadata.ts'
import type { Sent } from './oauth-way.ts'
import { isAddressWhole, withUserinfo } from './person.ts'
import { providerFetch } from './provider-fetch.ts'
import { returned } from './returned.ts'
import { Fault, type Step } from './steps.ts'

const CLOCK_TOLERANCE_S = 60

/** Where and as whom people of a domain, or of the instance, sign in. */
export type Client = {
  issuer: string
  client_id: string
  client_secret: string
  /** Where the provider sends the browser back to. */
  redirectUri(metadata: Metadata): string
}

type Context = Pick<WayContext, 'services' | 'now' | 'signal'>

/** Throws a Fault. */
export async function authorizationUrl(context: Context, client: Client, state: string): Promise<Sent> {
  const metadata = await metadataOf(context.services, client.issuer)
  const nonce = randomBytes(32).toString('base64url')
  const verifier = oidc.randomPKCECodeVerifier()
  const redirect_uri = client.redirectUri(metadata)
  try {
    const url = oidc.buildAuthorizationUrl(configure(context, client, metadata).configuration, {
      redirect_uri,
      scope: 'openid email profile',
      state,
      nonce,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })
    return { url: url.href, kept: { nonce, verifier, redirect_uri, issuer: client.issuer } }
  } catch (error) {
    throw toFault(error, 'configuration')
  }
}

/** Claims of the ID token, and of the userinfo endpoint where that knows more of the address. Throws a Fault. */
export async function claimsOf(
  context: Context,
  client: Client,
  kept: Kept,
  answer: Record<string, string>,
): Promise<Claims> {
  // Whoever changed the settings meanwhile may have changed whom to trust.
  if (kept.issuer !== client.issuer)
    throw new Fault('configuration', 'The issuer was changed during the sign-in.')
  const metadata = await metadataOf(context.services, client.issuer)
  const { configuration, during } = configure(context, client, metadata)
  try {
    const tokens = await oidc.authorizationCodeGrant(configuration, returned(kept, answer), {
      pkceCodeVerifier: kept.verifier!,
      expectedNonce: kept.nonce!,
      // The attempt was found by it, in this browser.
      expectedState: oidc.skipStateCheck,
      idTokenExpected: true,
    })
    const claims = tokens.claims()!
    assertWhole(
      { claims, client_id: client.client_id, now: context.now, tolerance_s: CLOCK_TOLERANCE_S },
      tokens,
    )
    if (isAddressWhole(claims) || !metadata.userinfo_endpoint) return claims
    return withUserinfo(claims, await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub))
  } catch (error) {
    throw toFault(error, during())
  }
}

function configure({ services, now, signal }: Context, client: Client, metadata: Metadata) {
  const seconds_ahead = Math.round((now.getTime() - Date.now()) / 1000)
  const configuration = new oidc.Configuration(
    metadata,
    client.client_id,
    { [oidc.clockSkew]: seconds_ahead, [oidc.clockTolerance]: CLOCK_TOLERANCE_S },
    authentication(client, metadata),
  )
  // By default the library takes an ID token that came over TLS without looking at its signature.
  oidc.enableNonRepudiationChecks(configuration)
  const fetch = providerFetch(services.outbound, signal)
  let step: Step = 'answer'
  configuration[oidc.customFetch] = (url, options) => {
    step = stepAt(metadata, url)
    return fetch(url, options)
  }
  return { configuration, during: () => step }
}

/** The last call tells how far it went. */
function stepAt(metadata: Metadata, url: string): Step {
  if (url === metadata.jwks_uri) return 'signature'
  return url === metadata.userinfo_endpoint ? 'profile' : 'tokens'
}

function authentication({ client_secret }: Client, metadata: Metadata): oidc.ClientAuth {
  const isBasic = metadata.token_endpoint_auth_methods_supported.includes('client_secret_basic')
  return isBasic ? oidc.ClientSecretBasic(client_secret) : oidc.ClientSecretPost(client_secret)
}
