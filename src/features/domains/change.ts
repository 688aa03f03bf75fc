// A change of a domain, with its entry in the activity log. Whoever sets up a domain's provider says who its people are, and
// admins may set it up: so what was believed of those above them is believed no longer once the provider is another.
import type { Db } from '../../platform/db/database.ts'
import { LEVELS, type Level } from '../../platform/http/caller.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { forgetIdentitiesAboveAdmins } from '../identities/queries.ts'
import { domainActivity, loggedChanges } from './activity.ts'
import { updateDomain } from './queries.ts'
import type { DomainRow } from './schema.ts'

/** Whom the domain believes. */
const TRUST = ['saml_entity_id', 'saml_acs_url', 'saml_x509_cert', 'oidc_issuer', 'oidc_client_id'] as const

/** Whether sign-ins that worked so far say nothing about the next. */
export function isProviderChanged(before: DomainRow, columns: Partial<DomainRow>): boolean {
  return columns.oidc_client_secret !== undefined || isTrustChanged(before, columns)
}

function isTrustChanged(before: DomainRow, columns: Partial<DomainRow>): boolean {
  return TRUST.some((field) => columns[field] !== undefined && columns[field] !== before[field])
}

export async function changeDomain(
  tx: Db,
  context: Actor & { level: Level },
  before: DomainRow,
  columns: Partial<DomainRow>,
): Promise<DomainRow> {
  const { now } = context
  const changed = isProviderChanged(before, columns) ? { ...columns, provider_changed_at: now } : columns
  const after = await updateDomain(tx, before.organization_id, before.id, changed, now)
  if (isTrustChanged(before, columns) && context.level < LEVELS.owner)
    await forgetIdentitiesAboveAdmins(tx, after)
  await recordActivity(tx, context, {
    ...domainActivity(after),
    activity: 'updated',
    changes: loggedChanges(before, after),
  })
  return after
}
