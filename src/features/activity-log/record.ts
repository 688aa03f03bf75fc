// Writing the activity log: one entry per change, in the change's own transaction. Every slice calls this.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Caller } from '../../platform/http/caller.ts'
import type { JsonObject } from '../../lib/json-object.ts'
import { uuid7 } from '../../lib/uuid.ts'
import { chainText, type ChainedEntry } from './chain.ts'
import type { Change } from './schema.ts'

/** The part of a request's context that says who acts, from where and when. */
export type Actor = {
  caller: Caller | null
  /** Who a request without credentials acts as: the account it has just made, or whose mailed link it brings. */
  acting_user?: { id: number; email: string; current_organization_id: string | null }
  /** The domain whose directory acts, over SCIM. */
  directory?: string
  request: { ip: string }
  now: Date
}

export type ActivityScope =
  | 'Organization'
  | 'OrganizationMembership'
  | 'OrganizationInvite'
  | 'OrganizationDomain'
  | 'DirectoryGroup'
  | 'Project'
  | 'EventDefinition'
  | 'PropertyDefinition'
  | 'Role'
  | 'AccessControl'
  | 'BatchExport'
  | 'Plugin'
  | 'PluginConfig'
  | 'PersonalAPIKey'
  | 'ServiceAPIKey'
  | 'Annotation'
  | 'User'

type ActivityName =
  | 'created'
  | 'updated'
  | 'deleted'
  | 'accepted'
  | 'resent'
  | 'verified'
  | 'rolled'
  | 'installed'
  | 'uninstalled'
  | 'source_updated'
  | 'upgraded'
  | 'order_changed'
  | 'enabled'
  | 'disabled'
  | 'config_updated'
  | 'attachment_created'
  | 'attachment_updated'
  | 'attachment_deleted'
  | 'job_triggered'
  | 'owner_recovered'

export type Activity = {
  /** Null only for what belongs to no organization, such as a person's own key. */
  organization_id: string | null
  project_id?: number
  scope: ActivityScope
  activity: ActivityName
  /** Never a secret. */
  item_id: string | null
  name: string
  changes?: Change[]
  /** What the slice finds its entries by once the thing itself is gone; not shown. */
  facts?: JsonObject
}

/** The name of who acts when nobody asked. */
export const SYSTEM = 'system'

/** Acts for nobody: what the server does by itself. */
export function systemActor(now: Date): Actor {
  return { caller: null, request: { ip: '' }, now }
}

/** Gives the id of the entry. */
export async function recordActivity(tx: Db, actor: Actor, activity: Activity): Promise<string> {
  const { caller, request, now } = actor
  const entry: ChainedEntry = {
    id: uuid7(now),
    organization_id: activity.organization_id,
    project_id: activity.project_id ?? null,
    user_id: caller?.user?.id ?? actor.acting_user?.id ?? null,
    key_id: caller && caller.kind !== 'session' ? caller.key.id : null,
    actor_name: actorName(actor),
    ip: request.ip,
    scope: activity.scope,
    activity: activity.activity,
    item_id: activity.item_id,
    detail: {
      name: activity.name,
      changes: activity.changes ?? [],
      ...(activity.facts ? { facts: activity.facts } : {}),
    },
    created_at: now,
  }
  // One writer at a time per organization, so that each entry follows exactly one other. A statement of its own: the
  // next one must see what the previous holder committed.
  await tx.run(
    sql`SELECT pg_advisory_xact_lock(hashtextextended('activity ' || ${entry.organization_id ?? ''}, 0))`,
  )
  // Two looks for the last hash, each along the index: IS NOT DISTINCT FROM would read the whole log for every entry
  // (41 ms at 100,000 of them, against 0.04 ms).
  await tx.run(sql`
    INSERT INTO activity_log (id, organization_id, project_id, user_id, key_id, actor_name, ip, scope, activity, item_id,
      detail, created_at, hash)
    SELECT ${entry.id}, ${entry.organization_id}, ${entry.project_id}, ${entry.user_id}, ${entry.key_id},
      ${entry.actor_name}, ${entry.ip}, ${entry.scope}, ${entry.activity}, ${entry.item_id}, ${entry.detail},
      ${entry.created_at}, encode(sha256(convert_to(coalesce(
        (SELECT hash FROM activity_log WHERE organization_id = ${entry.organization_id}
          ORDER BY position DESC LIMIT 1),
        (SELECT hash FROM activity_log WHERE organization_id IS NULL AND ${entry.organization_id === null}
          ORDER BY organization_id, position DESC LIMIT 1),
        '') || ${chainText(entry)}, 'UTF8')), 'hex')`)
  return entry.id
}

/**
 * The fields that differ, for `changes`; hand in only fields that are fit to be read by every admin. `after` is the new
 * row or what a PATCH brought: a field it lacks has not changed.
 */
export function changesBetween<Field extends string>(
  scope: ActivityScope,
  before: Record<Field, unknown>,
  after: Partial<Record<Field, unknown>>,
  fields: readonly Field[],
): Change[] {
  return fields
    .filter(
      (field) => after[field] !== undefined && JSON.stringify(before[field]) !== JSON.stringify(after[field]),
    )
    .map((field) => ({ type: scope, action: 'changed', field, before: before[field], after: after[field] }))
}

function actorName({ caller, acting_user, directory }: Actor): string {
  if (directory !== undefined) return `directory ${directory}`
  if (caller === null) return acting_user?.email ?? SYSTEM
  return caller.kind === 'service_key' ? `service key ${caller.key.label}` : caller.user.email
}
