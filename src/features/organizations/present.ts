// Row → Organization of the API.
import type { z } from 'zod'
import type { Level } from '../../platform/http/caller.ts'
import type { Settings } from '../../platform/services.ts'
import { presentBasicProject } from '../projects/present.ts'
import type { OrganizationFacts, OrganizationRow } from './queries.ts'
import type { Organization } from './schema.ts'

// Everything is included: the list exists because PostHog's clients hide what it does not name.
const FEATURES = [
  ['organizations_projects', 'Projects', 'Any number of projects in an organization.'],
  [
    'automatic_provisioning',
    'Automatic provisioning',
    'Accounts made at the first single sign-on of a verified domain.',
  ],
  ['sso_enforcement', 'SSO enforcement', 'Password sign-in switched off for a verified domain.'],
  ['saml', 'SAML', 'Sign-in through a SAML identity provider.'],
  ['2fa_enforcement', 'Two-factor enforcement', 'Two-factor authentication demanded of every member.'],
  ['audit_logs', 'Activity log', 'Who changed what, and when.'],
].map(([key, name, description]) => ({
  key: key!,
  name: name!,
  description: description!,
  unit: null,
  limit: null,
  note: null,
  is_plan_default: true,
}))

const METADATA = JSON.stringify({ instance_tag: 'none' })

export function presentOrganization(
  { plugins_min_write_level }: Pick<Settings, 'plugins_min_write_level'>,
  row: OrganizationRow,
  level: Level,
  facts: OrganizationFacts,
): z.input<typeof Organization> {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    membership_level: level,
    plugins_access_level: row.plugins_access_level,
    plugins_min_write_level,
    teams: facts.projects.map(presentBasicProject),
    available_product_features: FEATURES,
    is_member_join_email_enabled: row.is_member_join_email_enabled,
    metadata: METADATA,
    customer_id: row.customer_id,
    enforce_2fa: row.enforce_2fa,
    enforce_2fa_with_sso: row.enforce_2fa_with_sso,
    members_can_invite: row.members_can_invite,
    members_can_use_personal_api_keys: row.members_can_use_personal_api_keys,
    member_count: facts.member_count,
    owner_count: facts.owner_count,
  }
}
