// How a domain stands in the activity log.
import { changesBetween, type Activity } from '../activity-log/record.ts'
import type { Change } from '../activity-log/schema.ts'
import type { DomainRow } from './schema.ts'

/** None of them is a secret. */
const LOGGED_FIELDS = [
  'domain',
  'jit_provisioning_enabled',
  'sso_enforcement',
  'saml_entity_id',
  'saml_acs_url',
  'saml_x509_cert',
  'saml_allow_idp_initiated',
  'oidc_issuer',
  'oidc_client_id',
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

/** The log says of the secret only that it has changed. */
export function loggedChanges(before: DomainRow, after: DomainRow): Change[] {
  const changes = changesBetween('OrganizationDomain', before, after, LOGGED_FIELDS)
  if (before.oidc_client_secret === after.oidc_client_secret) return changes
  const secret = { type: 'OrganizationDomain', action: 'changed', field: 'oidc_client_secret' } as const
  return [...changes, { ...secret, before: null, after: null }]
}
