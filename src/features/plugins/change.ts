// Changes to the fields of a stored plugin, and its deletion: one transaction on the locked row, with its entry in the
// activity log. What changes nothing stores nothing.
import type { Db } from '../../platform/db/database.ts'
import type { OrganizationInReach } from '../../platform/http/access.ts'
import type { Level } from '../../platform/http/caller.ts'
import { invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import type { Actor } from '../activity-log/record.ts'
import { recordPluginActivity } from './activity.ts'
import { CODE_FILE } from './code.ts'
import { besideCode, changesOf, differing, fieldColumns } from './columns.ts'
import { hasFile } from './file-queries.ts'
import {
  deletePlugin,
  isConfiguredElsewhere,
  listFamiliesOf,
  lockPlugin,
  updatePlugin,
  type PluginColumns,
} from './queries.ts'
import { assertMayShare } from './rules.ts'
import type { PluginRow } from './rows.ts'
import type { PluginFields } from './schema.ts'

/** The part of a request's context that changes of plugins need. */
export type PluginChange = Actor & {
  services: Services
  db: Db
  organization: OrganizationInReach
  level: Level
}

export async function changePlugin(
  change: PluginChange,
  { id }: PluginRow,
  fields: PluginFields,
): Promise<PluginRow> {
  const { services, db, organization, now } = change
  return db.transaction(async (tx) => {
    const before = await lockPlugin(tx, organization.id, id)
    const given = fieldColumns(fields)
    const columns = differing(before, (await hasFile(tx, id, CODE_FILE)) ? besideCode(given) : given)
    if (Object.keys(columns).length === 0) return before
    await assertMayChange({ ...change, db: tx }, before, columns)
    await updatePlugin(tx, organization.id, id, { ...columns, updated_at: now })
    await recordPluginActivity(
      tx,
      change,
      { ...before, ...columns },
      {
        activity: 'updated',
        changes: changesOf(before, columns),
      },
    )
    await services.changes.tell(tx, 'plugin', id)
    return { ...before, ...columns }
  })
}

/** `columns` are those that differ, of something that changes. A plugin that was shared once may still run elsewhere. */
export async function assertMayChange(
  { db, organization, caller }: Pick<PluginChange, 'db' | 'organization' | 'caller'>,
  before: PluginRow,
  columns: Partial<PluginColumns>,
): Promise<void> {
  const isShared =
    before.is_global || columns.is_global || (await isConfiguredElsewhere(db, organization.id, before.id))
  if (isShared) assertMayShare(organization.plugins_access_level, caller)
  if (columns.plugin_type !== undefined && (before.url !== null || columns.plugin_type === 'local')) {
    throw invalid(
      'plugin_type',
      'invalid_input',
      'The type follows from where the plugin was installed from.',
    )
  }
}

export async function uninstallPlugin(change: PluginChange, { id }: PluginRow): Promise<void> {
  const { services, db, organization } = change
  await db.transaction(async (tx) => {
    const last = await lockPlugin(tx, organization.id, id)
    if (last.is_global) {
      throw invalid(null, 'invalid_input', 'Every organization may use this plugin: make it local first.')
    }
    // It was shared once: its deletion would take it away from others.
    if (await isConfiguredElsewhere(tx, organization.id, id))
      assertMayShare(organization.plugins_access_level, change.caller)
    const families = await listFamiliesOf(tx, organization.id, id)
    await deletePlugin(tx, organization.id, id)
    await recordPluginActivity(tx, change, last, { activity: 'uninstalled' }, families)
    await services.changes.tell(tx, 'plugin', id)
  })
}
