// What an organization would miss without data pipelines: its configs that are switched on, save those of plugins that
// only change events for everybody, or have no code but for web pages.
import type { z } from 'zod'
import type { Db } from '../../../platform/db/database.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import type { Caller, Level } from '../../../platform/http/caller.ts'
import type { Page } from '../../../platform/http/paging.ts'
import type { Services } from '../../../platform/services.ts'
import { isReachable } from '../../projects/access.ts'
import { presentConfigs } from '../configs/present.ts'
import { listPluginsOf } from '../configs/queries.ts'
import { PluginConfig } from '../configs/schema.ts'
import { isInFamily, type Family } from '../families.ts'
import { presentPlugin } from '../present.ts'
import type { PluginConfigRow } from '../rows.ts'
import { CONFIGS } from '../versions/accepted.ts'
import { listOrPage } from '../schema.ts'

export const ExportingConfigs = listOrPage(PluginConfig)

type Reading = {
  services: Services
  db: Db
  now: Date
  caller: Caller
  organization: { id: string }
  level: Level
  page: Page
}

export async function listExporting(reading: Reading, family: Family) {
  const { db, caller, organization, level, page } = reading
  const condition = sql`${isExporting(organization.id, family)} AND ${isReachable(caller, level)}`
  const rows = await db.rows<PluginConfigRow>(sql`
    SELECT c.* ${condition} ORDER BY c.id LIMIT ${page.limit} OFFSET ${page.offset}`)
  const { count } = await db.only<{ count: number }>(sql`SELECT count(*)::int AS count ${condition}`)
  const presented = new Map<number, z.input<typeof PluginConfig>>()
  for (const project_id of new Set(rows.map((row) => row.project_id))) {
    const own = rows.filter((row) => row.project_id === project_id)
    for (const config of await presentWithPlugins(reading, project_id, own)) presented.set(config.id, config)
  }
  // Without those whose plugin somebody has removed meanwhile.
  return { count, configs: rows.flatMap(({ id }) => presented.get(id) ?? []) }
}

function isExporting(organization_id: string, family: Family): Statement {
  return sql`
    FROM ${CONFIGS} JOIN project ON project.id = c.project_id
    WHERE project.organization_id = ${organization_id} AND c.enabled AND NOT c.deleted AND ${isInFamily(family)}
      AND p.capabilities <> '{}' AND NOT (p.is_global AND coalesce(p.capabilities->'methods' ? 'processEvent', false))`
}

async function presentWithPlugins(
  reading: Reading,
  project_id: number,
  rows: readonly PluginConfigRow[],
): Promise<z.input<typeof PluginConfig>[]> {
  const ids = rows.map(({ id }) => id)
  const found = await listPluginsOf(reading.db, project_id, ids)
  const plugins = new Map(found.map((row) => [row.plugin_config_id, row]))
  const configs = await presentConfigs(reading, project_id, rows)
  return configs.flatMap((config) => {
    const plugin = plugins.get(config.id)
    return plugin ? [{ ...config, plugin_info: presentPlugin(plugin) }] : []
  })
}
