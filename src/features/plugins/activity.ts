// Entries in the activity log about plugins and their configs. `facts` names the plugin, so that the entries of a family
// can be told from the others even when plugin and config are gone.
import type { Db } from '../../platform/db/database.ts'
import { sql, type Statement } from '../../platform/db/sql.ts'
import { recordActivity, type Activity, type Actor } from '../activity-log/record.ts'
import { isInFamily, type Family } from './families.ts'
import type { PluginConfigRow, PluginRow } from './rows.ts'

type What = Pick<Activity, 'activity' | 'changes'>

export async function recordPluginActivity(
  tx: Db,
  actor: Actor,
  plugin: Pick<PluginRow, 'id' | 'name' | 'organization_id'>,
  what: What,
  families?: readonly Family[],
): Promise<void> {
  await recordActivity(tx, actor, {
    ...what,
    organization_id: plugin.organization_id,
    scope: 'Plugin',
    item_id: String(plugin.id),
    name: plugin.name ?? '',
    facts: { plugin_id: plugin.id, ...(families ? { families } : {}) },
  })
}

/** About a plugin in one project: `order_changed` is an activity of the plugin, the others of its config. */
export async function recordConfigActivity(
  tx: Db,
  actor: Actor,
  organization_id: string,
  config: Pick<PluginConfigRow, 'id' | 'project_id' | 'plugin_id'> & { name: string | null },
  what: What,
): Promise<void> {
  await recordActivity(tx, actor, {
    ...what,
    organization_id,
    project_id: config.project_id,
    scope: what.activity === 'order_changed' ? 'Plugin' : 'PluginConfig',
    item_id: String(config.id),
    name: config.name ?? '',
    facts: { plugin_id: config.plugin_id },
  })
}

/** A condition on the row `entry` of the log: about plugins of the family, or such as were in it when they went. */
export function isAboutFamily(organization_id: string, family: Family): Statement {
  const isAboutPlugins = sql`entry.scope IN ('Plugin', 'PluginConfig')`
  if (family === 'plugins') return isAboutPlugins
  return sql`(${isAboutPlugins} AND entry.detail->'facts'->'plugin_id' IN (
    SELECT to_jsonb(p.id) FROM plugin p WHERE ${isInFamily(family)}
    UNION ALL
    SELECT gone.detail->'facts'->'plugin_id' FROM activity_log gone
    WHERE gone.organization_id = ${organization_id} AND gone.scope = 'Plugin' AND gone.activity = 'uninstalled'
      AND gone.detail->'facts'->'families' ? ${family}))`
}
