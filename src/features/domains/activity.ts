// How a domain stands in the activity log.
import type { Activity } from '../activity-log/record.ts'
import type { DomainRow } from './schema.ts'

/** None of them is a secret. */
export const LOGGED_FIELDS = [
  'domain',
  'jit_provisioning_enabled',
  'sso_enforcement',
  'saml_entity_id',
  'saml_acs_url',
  'saml_x509_cert',
  'scim_token_mask',
] as const

export function domainActivity(
  row: DomainRow,
): Pick<Activity, 'organization_id' | 'scope' | 'item_id' | 'name'> {
  return {
    organization_id: row.organization_id,
    scope: 'OrganizationDomain',
    item_id: row.id,
    name: row.domain,
  }
}
