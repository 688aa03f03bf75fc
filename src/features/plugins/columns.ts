// The columns of a plugin that clients, plugin.json and code write: compared, stored and told to the activity log.
import { isDeepStrictEqual } from 'node:util'
import { changesBetween } from '../activity-log/record.ts'
import type { Change } from '../activity-log/schema.ts'
import { assertConfigSchema } from './config-schema.ts'
import type { Manifest } from './manifest.ts'
import type { PluginColumns } from './queries.ts'
import type { Capabilities, PluginRow } from './rows.ts'
import type { PluginFields } from './schema.ts'

const LOGGED = [
  'plugin_type',
  'name',
  'description',
  'icon',
  'config_schema',
  'tag',
  'latest_tag',
  'is_global',
  'capabilities',
  'metrics',
  'public_jobs',
] as const satisfies (keyof PluginColumns)[]

/** What a client says; a plugin without a type is one that is written here. */
export function fieldColumns(fields: PluginFields): Partial<PluginColumns> {
  const { plugin_type, config_schema, capabilities, ...plain } = fields
  if (config_schema !== undefined) assertConfigSchema(config_schema)
  return {
    ...plain,
    ...(plugin_type === undefined ? {} : { plugin_type: plugin_type ?? 'source' }),
    ...(config_schema === undefined ? {} : { config_schema }),
    ...(capabilities === undefined ? {} : { capabilities: capabilities as Capabilities }),
  }
}

/** What a client says beside what its code says: of what the code offers the code alone tells. */
export function besideCode(columns: Partial<PluginColumns>): Partial<PluginColumns> {
  const { capabilities: _, metrics: __, ...others } = columns
  return others
}

export function manifestColumns(manifest: Partial<Manifest>): Partial<PluginColumns> {
  const { main: _, ...columns } = manifest
  return columns
}

/** Only those that differ from the row. */
export function differing(before: PluginRow, columns: Partial<PluginColumns>): Partial<PluginColumns> {
  const entries = Object.entries(columns) as [keyof PluginColumns, unknown][]
  return Object.fromEntries(
    entries.filter(([column, value]) => value !== undefined && !isSame(column, before[column], value)),
  )
}

export function changesOf(before: PluginRow, columns: Partial<PluginColumns>): Change[] {
  return changesBetween('Plugin', before, columns, LOGGED)
}

/** The order of keys counts, except where the database keeps its own. */
function isSame(column: keyof PluginColumns, before: unknown, after: unknown): boolean {
  return column === 'capabilities' || column === 'errors'
    ? isDeepStrictEqual(before, after)
    : JSON.stringify(before) === JSON.stringify(after)
}
