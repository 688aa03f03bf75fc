// Organizations, in and out.
import { z } from 'zod'
import { bool, text, timestamp, uuid } from '../../platform/http/fields.ts'
import { BasicProject } from '../projects/schema.ts'

const ProductFeature = z.object({
  key: z.string(),
  name: z.string(),
  description: z.string(),
  unit: z.string().nullable(),
  limit: z.int().nullable(),
  note: z.string().nullable(),
  is_plan_default: z.boolean(),
})

export const Organization = z
  .object({
    id: uuid,
    name: z.string(),
    slug: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
    membership_level: z.int(),
    plugins_access_level: z.int(),
    plugins_min_write_level: z
      .int()
      .describe('From which level on members of this server install, change and configure plugins.'),
    teams: z.array(BasicProject),
    available_product_features: z.array(ProductFeature),
    is_member_join_email_enabled: z.boolean(),
    metadata: z.string().describe('JSON text.'),
    customer_id: z.string().nullable(),
    enforce_2fa: z.boolean(),
    enforce_2fa_with_sso: z
      .boolean()
      .describe('Whether `enforce_2fa` also holds for whoever signs in through an identity provider.'),
    members_can_invite: z.boolean().describe('Else only admins and owners invite.'),
    members_can_use_personal_api_keys: z
      .boolean()
      .describe('Else personal API keys of members open nothing of the organization.'),
    member_count: z.string().describe('Number of active members, as text.'),
    owner_count: z.int().describe('Number of owners. The last one cannot leave.'),
  })
  .meta({ id: 'Organization' })

/** In PostHog these may be null, which works as false. */
const nullIsFalse = () => z.preprocess((value) => (value === null ? false : value), bool())

const fields = z.object({
  name: text({ max: 64 }),
  is_member_join_email_enabled: bool(),
  enforce_2fa: nullIsFalse(),
  enforce_2fa_with_sso: nullIsFalse(),
  members_can_invite: nullIsFalse(),
  members_can_use_personal_api_keys: bool(),
})

export const OrganizationCreate = fields.partial().required({ name: true })
export const OrganizationUpdate = fields.partial()
export type OrganizationFields = z.output<typeof OrganizationUpdate>
