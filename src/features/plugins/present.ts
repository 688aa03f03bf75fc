// Rows → answers of the API.
import type { z } from 'zod'
import { offeredJobs } from './offered-jobs.ts'
import type { PluginRow, SourceFileRow } from './rows.ts'
import type { Plugin } from './schema.ts'

export function presentPlugin(row: PluginRow): z.input<typeof Plugin> {
  return {
    id: row.id,
    plugin_type: row.plugin_type,
    name: row.name,
    description: row.description,
    url: row.url,
    icon: row.icon,
    config_schema: row.config_schema,
    tag: row.tag,
    latest_tag: row.latest_tag,
    is_global: row.is_global,
    organization_id: row.organization_id,
    organization_name: row.organization_name ?? 'built in',
    capabilities: row.capabilities,
    metrics: row.metrics,
    public_jobs: offeredJobs(row),
    errors: [...row.errors],
  }
}

export function presentFiles(files: readonly Pick<SourceFileRow, 'filename' | 'source'>[]) {
  return Object.fromEntries(files.map(({ filename, source }) => [filename, source]))
}
