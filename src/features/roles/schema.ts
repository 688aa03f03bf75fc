// Roles of an organization and who has them, in and out.
import { z } from 'zod'
import { text, timestamp, uuid } from '../../platform/http/fields.ts'
import { Member, type MemberRow } from '../members/schema.ts'
import { User } from '../users/schema.ts'

export const RoleMembership = z
  .object({
    id: uuid,
    role_id: uuid,
    organization_member: Member,
    user: User,
    joined_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'RoleMembership' })

export const Role = z
  .object({
    id: uuid,
    name: z.string(),
    created_at: timestamp,
    created_by: z.null().describe('Always null, as in PostHog; the activity log names who made it.'),
    members: z.array(RoleMembership),
    is_default: z.boolean().describe('Always false: no role is given to new members by itself.'),
  })
  .meta({ id: 'Role' })

const name = text({ max: 200 })
export const RoleCreate = z.object({ name })
export const RoleUpdate = RoleCreate.partial()
export const RoleMembershipCreate = z.object({ user_uuid: z.guid() })

export type RoleRow = { id: string; organization_id: string; name: string; created_at: Date }

export type RoleMembershipRow = {
  id: string
  role_id: string
  joined_at: Date
  updated_at: Date
  member: MemberRow
}
