// What runs in a tenant is what that tenant accepted: a plugin of another organization is pinned, by the hash of all that
// decides what it does, when a project gets it, and moves on when somebody there says so.
import type { Db } from '../../../platform/db/database.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { findUsablePlugin } from '../queries.ts'
import type { PluginConfigRow, PluginRow } from '../rows.ts'
import { keepVersion, lockCurrentVersion } from './queries.ts'

type OfOrganization = { organization_id: string }

/** Not its own organization's, which edits it for itself, and not the server's own: inline ones and folders of it. */
export function isPinned(
  { organization_id, plugin_type, url }: Pick<PluginRow, 'organization_id' | 'plugin_type' | 'url'>,
  project: OfOrganization,
): boolean {
  const isServers = organization_id === null || (plugin_type === 'local' && url !== null)
  return !isServers && organization_id !== project.organization_id
}

/** The plugin as it would be with this version; null where nothing changes. Refuses all but the newest one. */
export async function findNextVersion(
  db: Db,
  row: Pick<PluginConfigRow, 'plugin_id' | 'version'>,
  project: OfOrganization,
  version: string | null | undefined,
): Promise<(PluginRow & { hash: string }) | null> {
  if (version === undefined || version === row.version) return null
  if (row.version === null)
    throw refused('version', 'The project runs this plugin as it is. Leave `version` out.')
  const plugin = await findUsablePlugin(db, project.organization_id, row.plugin_id)
  if (version === null || version !== plugin?.hash)
    throw refused(
      'version',
      'This is not the newest version of the plugin. Read `latest_version` and send that.',
    )
  return plugin
}

/** Keeps the version for a config that is about to get it. Before the config is locked: edits lock the plugin first. */
export async function pinVersion(
  tx: Db,
  { id, hash }: { id: number; hash: string },
  attr: 'plugin' | 'version',
  now: Date,
): Promise<void> {
  if ((await lockCurrentVersion(tx, id)) !== hash)
    throw refused(attr, 'The plugin has just been changed. Read it again before you accept it.')
  await keepVersion(tx, id, hash, now)
}

const refused = (attr: string, detail: string) => invalid(attr, 'invalid_choice', detail)
