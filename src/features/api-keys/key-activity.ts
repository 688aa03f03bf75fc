// What the activity log says about a key: its label, mask and scopes, never its value.
import type { Db } from '../../platform/db/database.ts'
import { changesBetween, recordActivity, type Actor } from '../activity-log/record.ts'
import type { Change } from '../activity-log/schema.ts'
import type { KeyRow } from './schema.ts'

// A personal key's limits may name other organizations than the one whose admins read the log.
const PERSONAL_FIELDS = ['label', 'mask_value', 'scopes'] as const
const SERVICE_FIELDS = [...PERSONAL_FIELDS, 'scoped_teams', 'expires_at'] as const

/**
 * A service key belongs to its organization's log, a personal one to that of its owner's current organization, which has to
 * be told where nobody signed in makes the key.
 */
export async function recordKeyMade(
  tx: Db,
  actor: Actor,
  row: KeyRow,
  organization_id = organizationOf(actor, row),
): Promise<void> {
  const change = {
    type: scopeOf(row),
    action: 'created' as const,
    field: 'scopes',
    before: null,
    after: row.scopes,
  }
  await record(tx, actor, row, 'created', [change], organization_id)
}

export async function recordKeyDeleted(tx: Db, actor: Actor, row: KeyRow): Promise<void> {
  const change = {
    type: scopeOf(row),
    action: 'deleted' as const,
    field: 'scopes',
    before: row.scopes,
    after: null,
  }
  await record(tx, actor, row, 'deleted', [change])
}

export async function recordKeyChanged(
  tx: Db,
  actor: Actor,
  activity: 'updated' | 'rolled',
  before: KeyRow,
  after: KeyRow,
): Promise<void> {
  const fields = after.organization_id === null ? PERSONAL_FIELDS : SERVICE_FIELDS
  await record(tx, actor, after, activity, changesBetween(scopeOf(after), before, after, fields))
}

/** Tells a key from others without telling its value. */
export function nameOfKey({ label, mask_value }: KeyRow): string {
  return `${label} (${mask_value})`
}

type KeyActivity = 'created' | 'updated' | 'rolled' | 'deleted'

async function record(
  tx: Db,
  actor: Actor,
  row: KeyRow,
  activity: KeyActivity,
  changes: Change[],
  organization_id = organizationOf(actor, row),
): Promise<void> {
  await recordActivity(tx, actor, {
    organization_id,
    scope: scopeOf(row),
    activity,
    item_id: row.id,
    name: nameOfKey(row),
    changes,
  })
}

function organizationOf({ caller, acting_user }: Actor, row: KeyRow): string | null {
  return row.organization_id ?? (caller?.user ?? acting_user)?.current_organization_id ?? null
}

function scopeOf(row: KeyRow): 'PersonalAPIKey' | 'ServiceAPIKey' {
  return row.organization_id === null ? 'PersonalAPIKey' : 'ServiceAPIKey'
}
