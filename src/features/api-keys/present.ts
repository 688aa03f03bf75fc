// Row → key of the API. The value itself is only in the answer that made it.
import type { z } from 'zod'
import { presentUser } from '../users/present.ts'
import type { ServiceKeyRow } from './queries.ts'
import type { CurrentKey, KeyRow, PersonalApiKey, ServiceKey } from './schema.ts'

export function presentPersonalKey(row: KeyRow, value: string | null = null): z.input<typeof PersonalApiKey> {
  return { ...common(row, value), user_id: row.user_id!, scoped_organizations: row.scoped_organizations }
}

export function presentServiceKey(
  row: ServiceKeyRow,
  value: string | null = null,
): z.input<typeof ServiceKey> {
  return {
    ...common(row, value),
    organization_id: row.organization_id!,
    level: row.level!,
    created_by: row.creator ? presentUser(row.creator) : null,
  }
}

export function presentCurrentKey(row: KeyRow): z.input<typeof CurrentKey> {
  return {
    ...common(row, null),
    user_id: row.user_id,
    organization_id: row.organization_id,
    level: row.level,
    scoped_organizations: row.scoped_organizations,
  }
}

function common(row: KeyRow, value: string | null) {
  return {
    id: row.id,
    label: row.label,
    value,
    mask_value: row.mask_value,
    scopes: row.scopes,
    scoped_teams: row.scoped_teams,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    last_rolled_at: row.last_rolled_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
  }
}
