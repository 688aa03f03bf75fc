// A plugin given to a project: checked as a whole, then stored with its files and an entry in the activity log. The
// clockwork is told once it is there.
import { randomBase62 } from '../../../lib/base62.ts'
import type { Db } from '../../../platform/db/database.ts'
import { invalid } from '../../../platform/http/errors.ts'
import type { Services } from '../../../platform/services.ts'
import type { Actor } from '../../activity-log/record.ts'
import { lockProject } from '../../projects/queries.ts'
import { recordConfigActivity } from '../activity.ts'
import { readConfigSchema } from '../config-schema.ts'
import { beginDeliveries } from '../delivery/begin.ts'
import { assertFilters } from '../delivery/filters.ts'
import type { Family } from '../families.ts'
import { findUsablePlugin } from '../queries.ts'
import type { PluginConfigRow, PluginRow } from '../rows.ts'
import { isPinned, pinVersion } from '../versions/accept.ts'
import {
  assertRoomForAttachments,
  keysAfter,
  readAttachmentChanges,
  storeAttachments,
} from './attachments.ts'
import { changedSettings } from './change-settings.ts'
import type { Addressed, Place } from './place.ts'
import { countConfigs, findNextOrder, insertConfig, isPluginInFamily, takeConfigId } from './queries.ts'
import { assertComplete, assertReadable, assertRoom } from './rules.ts'
import type { ConfigCreate } from './schema.ts'
import { sealSecretConfig } from './settings.ts'

/** The part of a request's context that changes of configs need. */
export type Change = Actor & { services: Services; db: Db }

const WEB_TOKEN_BYTES = 24

export async function createConfig(
  change: Change,
  place: Place,
  family: Family,
  body: ConfigCreate,
): Promise<Addressed> {
  const { services, db, now } = change
  const { project } = place
  const plugin = await getUsablePlugin(db, project.organization_id, family, body.plugin)
  const fields = readConfigSchema(plugin.config_schema)
  const settings = changedSettings(fields, { config: {}, secrets: {} }, body.config ?? {})
  assertReadable(plugin, settings)
  const attachments = readAttachmentChanges(fields, body)
  const attached = keysAfter([], attachments)
  assertFilters(body.filters, services.eventStore.engine)
  const enabled = body.enabled ?? false
  if (enabled) assertComplete(fields, settings, attached)
  return db.transaction(async (tx) => {
    // Two at once must not both be the hundredth, nor get the same order.
    await lockProject(tx, project.organization_id, project.id)
    assertRoom(await countConfigs(tx, { project_id: project.id, family: 'plugins' }))
    const version = isPinned(plugin, project) ? plugin.hash : null
    if (version !== null) await pinVersion(tx, plugin, 'plugin', now)
    const id = await takeConfigId(tx)
    const row = await insertConfig(tx, {
      id,
      project_id: project.id,
      plugin_id: plugin.id,
      enabled,
      order: body.order ?? (await findNextOrder(tx, project.id)),
      name: body.name ?? '',
      description: body.description ?? '',
      config: settings.config,
      secrets: sealSecretConfig(services.secrets, id, settings.secrets),
      filters: body.filters ?? null,
      on_failure: body.on_failure ?? null,
      version,
      web_token: randomBase62(WEB_TOKEN_BYTES),
      created_at: now,
      updated_at: now,
    })
    const files = await storeAttachments(tx, services.secrets, row, [], attachments)
    if (files.length > 0) await assertRoomForAttachments(tx, row)
    if (enabled) await beginDeliveries(tx, services.eventStore, row, plugin)
    const switched = enabled ? [{ activity: 'enabled' as const }] : []
    for (const what of [{ activity: 'created' as const }, ...files, ...switched]) {
      await recordConfigActivity(tx, change, project.organization_id, namedConfig(row, plugin), what)
    }
    await services.changes.tell(tx, 'plugin-config', id, project.id)
    return { ...place, row, plugin }
  })
}

/** As the activity log calls it. */
export function namedConfig(row: PluginConfigRow, plugin: Pick<PluginRow, 'name'>) {
  return { ...row, name: row.name === '' ? plugin.name : row.name }
}

async function getUsablePlugin(
  db: Db,
  organization_id: string,
  family: Family,
  id: number,
): Promise<PluginRow & { hash: string }> {
  const plugin = await findUsablePlugin(db, organization_id, id)
  if (plugin && (await isPluginInFamily(db, id, family))) return plugin
  throw invalid('plugin', 'does_not_exist', 'There is no such plugin here for the project to use.')
}
