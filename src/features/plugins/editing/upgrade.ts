// Newer versions of plugins that were installed from somewhere: looked for, and fetched in place of the old one.
import type { PluginChange } from '../change.ts'
import { readCode } from '../code.ts'
import { manifestColumns } from '../columns.ts'
import { openToken } from '../origin.ts'
import { getOwnPlugin, updatePlugin } from '../queries.ts'
import type { PluginRow } from '../rows.ts'
import { fetchSource, findNewestTag } from '../sources/fetch-source.ts'
import { replaceCode } from './replace-code.ts'

export async function upgradePlugin(change: PluginChange, plugin: PluginRow): Promise<PluginRow> {
  const { services, now } = change
  if (!isFetched(plugin)) return plugin
  const source = await fetchSource(services, plugin.url, openToken(services.secrets, plugin))
  const { tag, manifest } = source
  const { row } = await replaceCode(change, plugin.id, 'upgraded', async (before) => {
    const code = await readCode(services.sandbox, source.files, before.files)
    const checked = tag === before.row.latest_tag ? {} : { latest_tag_checked_at: now }
    const version = { tag, latest_tag: tag, ...checked }
    return { columns: { ...manifestColumns(manifest), ...code.columns, ...version }, files: code.files }
  })
  return row
}

/** Changes what is known of the newest version, and nothing that runs. */
export async function checkForUpdates(change: PluginChange, plugin: PluginRow): Promise<PluginRow> {
  const { services, db, organization, now } = change
  if (!isFetched(plugin)) return plugin
  const latest_tag = await findNewestTag(services, plugin.url, openToken(services.secrets, plugin))
  await updatePlugin(db, organization.id, plugin.id, { latest_tag, latest_tag_checked_at: now })
  return getOwnPlugin(db, organization.id, plugin.id)
}

function isFetched(plugin: PluginRow): plugin is PluginRow & { url: string } {
  const { plugin_type, url } = plugin
  return url !== null && (plugin_type === 'custom' || plugin_type === 'repository')
}
