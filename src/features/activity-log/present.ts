// Row → entry of the API.
import type { z } from 'zod'
import { presentUser } from '../users/present.ts'
import type { EntryRow } from './queries.ts'
import { SYSTEM } from './record.ts'
import type { ActivityLogEntry, Change } from './schema.ts'

export function presentEntry(row: EntryRow): z.input<typeof ActivityLogEntry> {
  const detail = row.detail as { name: string; changes: Change[] }
  return {
    id: row.id,
    user: row.user ? presentUser(row.user) : null,
    unread: false,
    is_system: row.user_id === null && row.key_id === null && row.actor_name === SYSTEM,
    was_impersonated: false,
    activity: row.activity,
    scope: row.scope,
    item_id: row.item_id,
    organization_id: row.organization_id,
    created_at: row.created_at.toISOString(),
    actor: { name: row.actor_name, key_id: row.key_id },
    detail: { name: detail.name, short_id: null, type: null, trigger: null, changes: detail.changes },
  }
}
