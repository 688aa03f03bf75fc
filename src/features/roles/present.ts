// Row → Role and RoleMembership of the API.
import type { z } from 'zod'
import { presentMember } from '../members/present.ts'
import type { Role, RoleMembership, RoleMembershipRow, RoleRow } from './schema.ts'

export function presentRole(row: RoleRow, memberships: readonly RoleMembershipRow[]): z.input<typeof Role> {
  return {
    id: row.id,
    name: row.name,
    created_at: row.created_at.toISOString(),
    created_by: null,
    members: memberships.filter(({ role_id }) => role_id === row.id).map(presentRoleMembership),
    is_default: false,
  }
}

export function presentRoleMembership(row: RoleMembershipRow): z.input<typeof RoleMembership> {
  const organization_member = presentMember(row.member)
  return {
    id: row.id,
    role_id: row.role_id,
    organization_member,
    user: organization_member.user,
    joined_at: row.joined_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
