// Row → Domain of the API.
import type { z } from 'zod'
import type { Services } from '../../platform/services.ts'
import { describeCertificates } from './certificates.ts'
import { hasSaml } from './rules.ts'
import type { Domain, DomainRow } from './schema.ts'
import { recordName } from './verify.ts'

export function presentDomain(services: Services, row: DomainRow): z.input<typeof Domain> {
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
  }
}
