// Row → AccessControl of the API.
import type { z } from 'zod'
import { ACCESS_LEVELS, ACCESS_NAMES, type AccessControl, type AccessControlRow } from './schema.ts'

export function presentAccessControl(row: AccessControlRow): z.input<typeof AccessControl> {
  return {
    access_level: nameOfLevel(row.level),
    resource: 'project',
    resource_id: String(row.project_id),
    organization_member: row.membership_id,
    role: row.role_id,
    created_by: null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** Owners are admins of their projects. */
export function nameOfLevel(level: number) {
  return ACCESS_NAMES.findLast((name) => level >= ACCESS_LEVELS[name])!
}
