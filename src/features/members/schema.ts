// Members of an organization, in and out.
import { z } from 'zod'
import { LEVELS, type Level } from '../../platform/http/caller.ts'
import { instant, intChoice, text, timestamp, uuid } from '../../platform/http/fields.ts'
import { PageQuery } from '../../platform/http/paging.ts'
import { User, type UserRow } from '../users/schema.ts'

export const levelField = () => intChoice([LEVELS.member, LEVELS.admin, LEVELS.owner])

export const Member = z
  .object({
    id: uuid,
    user: User,
    level: z.int(),
    joined_at: timestamp,
    updated_at: timestamp,
    is_2fa_enabled: z.boolean(),
    has_social_auth: z.boolean(),
    last_login: timestamp.nullable(),
  })
  .meta({ id: 'Member' })

export const MemberUpdate = z.object({ level: levelField() }).partial()

export const MemberFilter = PageQuery.extend({
  order: z
    .unknown()
    .optional()
    .meta({ type: 'string', description: '`joined_at` or `-joined_at`; anything else is ignored.' }),
  email: text({ max: 254, blank: true }).optional().describe('Exact address, upper or lower case.'),
  search: text({ max: 200, blank: true }).optional().describe('Part of a name or address.'),
  updated_after: instant().optional(),
})
export type MemberFilter = z.output<typeof MemberFilter>

export type MembershipRow = {
  id: string
  organization_id: string
  user_id: number
  level: Level
  joined_at: Date
  updated_at: Date
}

/** Only the columns that the embedded user shows are read with it. */
export type MemberRow = MembershipRow & {
  has_2fa: boolean
  has_social_auth: boolean
  last_login: Date | null
} & Pick<
    UserRow,
    'uuid' | 'distinct_id' | 'first_name' | 'last_name' | 'email' | 'is_email_verified' | 'hedgehog_config'
  >
