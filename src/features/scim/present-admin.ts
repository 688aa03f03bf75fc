// Row → what admins see of a directory.
import type { z } from 'zod'
import type { Services } from '../../platform/services.ts'
import type { DomainRow } from '../domains/schema.ts'
import { scimBaseUrl } from '../domains/scim-token.ts'
import type { RoleAccess } from '../projects/set-access.ts'
import type { ListedGroup } from './group-queries.ts'
import type { RequestRow } from './request-log.ts'
import type { DirectoryGroup, DirectoryRequest, Scim } from './schema.ts'

type Counts = { users: number; groups: number; last_request_at: Date | null }

/** `token` is given once, where it was made. */
export function presentScim(
  services: Services,
  row: DomainRow,
  token: string | null,
  { users, groups, last_request_at }: Counts,
): z.input<typeof Scim> {
  const has_scim = row.scim_token_hash !== null
  return {
    scim_enabled: has_scim,
    has_scim,
    scim_base_url: has_scim ? scimBaseUrl(services, row) : null,
    scim_bearer_token: token,
    mask_value: row.scim_token_mask,
    token_made_at: row.scim_token_made_at?.toISOString() ?? null,
    last_request_at: last_request_at?.toISOString() ?? null,
    last_refused_at: row.scim_refused_at?.toISOString() ?? null,
    users,
    groups,
  }
}

export function presentListedGroup(
  row: ListedGroup,
  opened: readonly RoleAccess[],
): z.input<typeof DirectoryGroup> {
  const projects = opened.flatMap(({ role_id, project_id, access }) =>
    role_id === row.role_id && access !== 'none' ? [{ id: project_id, level: access }] : [],
  )
  return {
    id: row.id,
    display_name: row.display_name,
    external_id: row.external_id,
    member_count: row.member_count,
    level: row.level,
    projects,
    role: row.role_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

export function presentRequest(row: RequestRow): z.input<typeof DirectoryRequest> {
  return { ...row, created_at: row.created_at.toISOString() }
}
