// Rows → PluginConfig of the API.
import type { z } from 'zod'
import type { JsonObject } from '../../../lib/json-object.ts'
import type { Db } from '../../../platform/db/database.ts'
import { LEVELS, type Caller } from '../../../platform/http/caller.ts'
import { notFound } from '../../../platform/http/errors.ts'
import type { Services } from '../../../platform/services.ts'
import { readConfigSchema } from '../config-schema.ts'
import { presentPlugin } from '../present.ts'
import { isUsedBeyond } from '../queries.ts'
import type { PluginConfigRow, PluginRow } from '../rows.ts'
import { siteAppPath } from '../site-apps/address.ts'
import { findSiteAppPlace } from '../site-apps/queries.ts'
import { listAttachments, type AttachmentFacts } from './attachment-queries.ts'
import { presentAttachment } from './attachments.ts'
import { maskedSettings } from './change-settings.ts'
import type { Addressed } from './place.ts'
import { listCallCounts, listPluginsOf, type PluginOfConfig } from './queries.ts'
import { countHeldByConfig } from '../running/holding/queries.ts'
import { ruleOf } from './rules.ts'
import type { PluginConfig } from './schema.ts'
import { readParts } from './settings.ts'

type Presented = z.input<typeof PluginConfig>

type Reading = { services: Pick<Services, 'secrets' | 'settings'>; db: Db; now: Date }
type ReadingFor = Reading & { caller: Caller }

const HOUR_MS = 60 * 60 * 1000
const RATE_OVER_MS = 24 * HOUR_MS

/** One, with its plugin and, for admins, the address of its code for web pages. */
export async function presentConfig(
  reading: ReadingFor,
  { project, row, level }: Addressed,
): Promise<Presented> {
  const plugins = await listPluginsOf(reading.db, row.project_id, [row.id])
  const [plugin] = plugins
  // Somebody has just removed it, and the config with it.
  if (!plugin) throw notFound()
  const [presented] = await presentWith(reading, row.project_id, [row], plugins)
  const site = level < LEVELS.admin ? undefined : await findSiteAppPlace(reading.db, row.project_id, row.id)
  const site_url = site ? `${reading.services.settings.site_url}${siteAppPath(site)}` : null
  // Nobody is told who runs a plugin of another organization.
  const isOwn = plugin.organization_id === project.organization_id
  const is_plugin_used_beyond = isOwn && (await isUsedBeyond(reading.db, plugin, reading.caller))
  return { ...presented!, plugin_info: presentPlugin(plugin), is_plugin_used_beyond, site_url }
}

/** Configs of one project, as lists show them. */
export async function presentConfigs(
  reading: Reading,
  project_id: number,
  rows: readonly PluginConfigRow[],
): Promise<Presented[]> {
  const plugins = await listPluginsOf(
    reading.db,
    project_id,
    rows.map(({ id }) => id),
  )
  return presentWith(reading, project_id, rows, plugins)
}

async function presentWith(
  { services, db, now }: Reading,
  project_id: number,
  rows: readonly PluginConfigRow[],
  plugins: readonly PluginOfConfig[],
): Promise<Presented[]> {
  const ids = rows.map(({ id }) => id)
  const pluginOf = new Map(plugins.map((plugin) => [plugin.plugin_config_id, plugin]))
  const attachments = await listAttachments(db, project_id, ids)
  const since = new Date(now.getTime() - RATE_OVER_MS)
  const recently = startOfLastHour(now)
  const minutes = (now.getTime() - recently.getTime()) / 60_000
  const calls = new Map(
    (await listCallCounts(db, project_id, ids, { since, recently })).map((counts) => [counts.id, counts]),
  )
  const held = await countHeldByConfig(db, project_id, ids)
  return rows.flatMap((row) => {
    const plugin = pluginOf.get(row.id)
    if (!plugin) return []
    const own = attachments.filter(({ plugin_config_id }) => plugin_config_id === row.id)
    return [
      {
        id: row.id,
        plugin: row.plugin_id,
        enabled: row.enabled,
        order: row.order,
        config: presentSettings(services, plugin, row, own),
        name: row.name === '' ? plugin.name : row.name,
        description: row.description === '' ? plugin.description : row.description,
        deleted: row.deleted,
        team_id: row.project_id,
        plugin_info: null,
        is_plugin_used_beyond: null,
        error: row.error,
        version: row.version,
        latest_version: plugin.latest_version,
        on_failure: ruleOf(row, plugin),
        held_events: held.get(row.id) ?? 0,
        families: plugin.families,
        events_per_minute: Math.round(((calls.get(row.id)?.recent_events ?? 0) / minutes) * 1000) / 1000,
        failures_24h: calls.get(row.id)?.failures ?? 0,
        delivery_rate_24h: calls.get(row.id)?.rate ?? null,
        created_at: row.created_at.toISOString(),
        updated_at: row.updated_at.toISOString(),
        filters: row.filters as JsonObject | null,
        site_url: null,
      },
    ]
  })
}

/** Calls are counted by the hour: this one has just begun, perhaps. */
function startOfLastHour(now: Date): Date {
  return new Date((Math.floor(now.getTime() / HOUR_MS) - 1) * HOUR_MS)
}

/** Secrets masked, attachments described. */
function presentSettings(
  { secrets }: Pick<Services, 'secrets'>,
  plugin: Pick<PluginRow, 'config_schema'>,
  row: PluginConfigRow,
  attachments: readonly AttachmentFacts[],
): JsonObject {
  const fields = readConfigSchema(plugin.config_schema)
  const settings = maskedSettings(fields, readParts(secrets, row))
  const files = attachments.map((each) => [each.key, presentAttachment(fields, each)])
  return { ...settings, ...(Object.fromEntries(files) as JsonObject) }
}
