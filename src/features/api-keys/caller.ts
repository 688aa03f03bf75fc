// From a presented key to the caller behind it: what every request made with a key goes through.
import type { Db } from '../../platform/db/database.ts'
import type { Caller } from '../../platform/http/caller.ts'
import { hashKey } from './key-value.ts'
import { findKeyByHash, touchKey, type KeyLookup } from './queries.ts'

const TOUCH_EVERY_MS = 60 * 60 * 1000

export async function findCallerByKey(db: Db, value: string, now: Date): Promise<Caller | null> {
  const row = await findKeyByHash(db, hashKey(value))
  if (!row || isExpired(row, now)) return null
  const caller = callerOf(row)
  // At most one write an hour per key, whatever its traffic.
  const anHourAgo = new Date(now.getTime() - TOUCH_EVERY_MS)
  const isWorthNoting = row.last_used_at === null || row.last_used_at <= anHourAgo
  if (caller && isWorthNoting) await touchKey(db, row.id, now, anHourAgo)
  return caller
}

function callerOf(row: KeyLookup): Caller | null {
  const { id, label, scopes, scoped_organizations, scoped_teams } = row
  const key = { id, label, scopes, scoped_organizations, scoped_teams }
  if (row.organization_id !== null) {
    return { kind: 'service_key', user: null, key, organization_id: row.organization_id, level: row.level! }
  }
  if (!row.is_active) return null
  const user = {
    id: row.user_id!,
    uuid: row.user_uuid!,
    email: row.email!,
    first_name: row.first_name!,
    is_staff: row.is_staff!,
    has_2fa: row.has_2fa,
    current_organization_id: row.current_organization_id,
    current_project_id: row.current_project_id,
  }
  return { kind: 'personal_key', user, key }
}

function isExpired(row: KeyLookup, now: Date): boolean {
  return row.expires_at !== null && row.expires_at <= now
}
