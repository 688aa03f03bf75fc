// Google, for the whole instance. It speaks OpenID Connect.
import { oauthWay } from '../oidc/oauth-way.ts'
import { openid } from '../oidc/openid.ts'
import { applicationAt, redirectUri } from './applications.ts'

export const google = oauthWay(
  'google-oauth2',
  openid(({ services }) => {
    const { base_url, ...application } = applicationAt(services, 'google-oauth2')
    return { issuer: base_url, ...application, redirectUri: () => redirectUri(services, 'google-oauth2') }
  }),
)
