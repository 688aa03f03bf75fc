// OpenID Connect by the provider of a domain.
import type { Services } from '../../../platform/services.ts'
import { oidcRedirectUris, openClientSecret } from '../../domains/oidc-client.ts'
import type { DomainRow } from '../../domains/schema.ts'
import type { Client } from './client.ts'
import { oauthWay } from './oauth-way.ts'
import { openid } from './openid.ts'
import { Fault } from './steps.ts'

export const domainOidc = oauthWay(
  'oidc',
  openid(({ services, domain }) => clientOf(services, domain)),
)

function clientOf(services: Services, domain: DomainRow | null): Client {
  const { oidc_issuer, oidc_client_id, oidc_client_secret } = domain ?? {}
  if (!domain || !oidc_issuer || !oidc_client_id || !oidc_client_secret) {
    throw new Fault('configuration', 'Issuer, client id or secret are missing.', 'provider_not_set_up')
  }
  const { shared, own } = oidcRedirectUris(services, domain.id)
  return {
    issuer: oidc_issuer,
    client_id: oidc_client_id,
    client_secret: openClientSecret(services, domain.id, oidc_client_secret),
    // One that names itself in its answer cannot be taken for another; those that do not have an address each.
    redirectUri: (metadata) => (metadata.authorization_response_iss_parameter_supported ? shared : own),
  }
}
