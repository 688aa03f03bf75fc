// The signed-in user's own account, in and out.
import { z } from 'zod'
import { bool, email, int, smallObject, text, timestamp, uuid, verbatim } from '../../platform/http/fields.ts'
import { PageQuery } from '../../platform/http/paging.ts'
import { Organization } from '../organizations/schema.ts'
import { BasicProject } from '../projects/schema.ts'
import { User } from '../users/schema.ts'

const OwnOrganization = z.object({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  membership_level: z.int(),
  members_can_use_personal_api_keys: z.boolean(),
})

/** What any valid key learns: that it is good, and whose it is. */
export const AccountBrief = User.extend({ date_joined: timestamp }).meta({ id: 'AccountBrief' })

export const Account = AccountBrief.extend({
  pending_email: z.string().nullable(),
  notification_settings: z.record(z.string(), z.unknown()),
  anonymize_data: z.boolean(),
  has_password: z.boolean(),
  active_personal_api_keys: z.int().describe('Personal API keys that still work.'),
  is_staff: z.boolean(),
  is_2fa_enabled: z.boolean(),
  has_social_auth: z.boolean(),
  role_at_organization: z.string().nullable(),
  team: BasicProject.nullable(),
  organization: Organization.nullable(),
  organizations: z.array(OwnOrganization),
}).meta({ id: 'Account' })

export const AccountListQuery = PageQuery.extend({
  email: text({ max: 254, blank: true }).optional().describe('Exact address, upper or lower case.'),
  is_staff: bool().optional(),
})

export const PendingInvite = z
  .object({
    id: uuid,
    target_email: z.string().meta({ format: 'email' }),
    organization_id: uuid,
    organization_name: z.string(),
    created_at: timestamp,
  })
  .meta({ id: 'PendingInvite' })

export const AccountUpdate = z
  .object({
    first_name: text({ max: 128 }),
    last_name: text({ max: 150, blank: true }),
    email: email(),
    hedgehog_config: smallObject({ max_bytes: 4096 }).nullable().describe('At most 4,096 bytes as JSON.'),
    notification_settings: z.record(z.string(), z.unknown()),
    anonymize_data: bool(),
    role_at_organization: text({ max: 64, blank: true }).nullable(),
    set_current_organization: text({ max: 100 }),
    set_current_team: int(),
    password: verbatim({ max: 1000 }),
    current_password: verbatim({ max: 1000 }),
    delete_personal_api_keys: bool(),
    is_staff: bool(),
    is_active: bool(),
  })
  .partial()
export type AccountFields = z.output<typeof AccountUpdate>

export const TwoFactorSetup = z.object({ success: z.boolean(), secret: z.string(), otpauth_url: z.string() })
export const TwoFactorCode = z.object({ token: text({ max: 100 }) })
export const TwoFactorConfirmed = z.object({ success: z.boolean(), backup_codes: z.array(z.string()) })
export const TwoFactorStatus = z.object({ is_enabled: z.boolean(), backup_codes_left: z.int() })

export const BrowserSession = z
  .object({
    id: uuid,
    created_at: timestamp,
    expires_at: timestamp,
    last_used_at: timestamp.describe('To the minute.'),
    last_used_ip: z.string().describe('Address it was last used from; empty when not known.'),
    browser: z.string().nullable().describe('Name and version, as of the sign-in.'),
    system: z.string().nullable(),
    current: z.boolean().describe('Whether it is the session that asks.'),
  })
  .meta({ id: 'BrowserSession' })
export const SessionsEnded = z.object({ ended: z.int() })
