// Row → Domain of the API.
import type { z } from 'zod'
import type { Services } from '../../platform/services.ts'
import { describeCertificates } from './certificates.ts'
import { oidcRedirectUris } from './oidc-client.ts'
import { hasOidc, hasSaml } from './rules.ts'
import type { Domain, DomainRow } from './schema.ts'
import { scimBaseUrl } from './scim-token.ts'
import { recordName } from './verify.ts'

/** `scimToken` is given once, where it was made. */
export function presentDomain(
  services: Services,
  row: DomainRow,
  scimToken: string | null = null,
): z.input<typeof Domain> {
  const has_scim = row.scim_token_hash !== null
  return {
    id: row.id,
    domain: row.domain,
    is_verified: row.verified_at !== null,
    verified_at: row.verified_at?.toISOString() ?? null,
    verification_challenge: row.verification_challenge,
    verification_record: recordName(services, row),
    last_verification_retry: row.last_verification_retry?.toISOString() ?? null,
    jit_provisioning_enabled: row.jit_provisioning_enabled,
    sso_enforcement: row.sso_enforcement,
    has_saml: hasSaml(row),
    saml_entity_id: row.saml_entity_id,
    saml_acs_url: row.saml_acs_url,
    saml_x509_cert: row.saml_x509_cert,
    saml_certificates: describeCertificates(row.saml_x509_cert),
    saml_allow_idp_initiated: row.saml_allow_idp_initiated,
    has_oidc: hasOidc(row),
    oidc_issuer: row.oidc_issuer,
    oidc_client_id: row.oidc_client_id,
    oidc_redirect_uris: Object.values(oidcRedirectUris(services, row.id)),
    scim_enabled: has_scim,
    has_scim,
    scim_base_url: has_scim ? scimBaseUrl(services, row) : null,
    scim_bearer_token: scimToken,
  }
}
