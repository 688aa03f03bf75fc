// A log line's row → its JSON in the API.
import type { z } from 'zod'
import type { PluginLogRow } from './queries.ts'
import type { PluginLogEntry } from './schema.ts'

export function presentLog(row: PluginLogRow): z.input<typeof PluginLogEntry> {
  return {
    id: row.id,
    team_id: row.project_id,
    plugin_id: row.plugin_id,
    plugin_config_id: row.plugin_config_id,
    timestamp: row.timestamp.toISOString(),
    source: row.source,
    type: row.type,
    message: row.message,
    instance_id: row.instance_id,
  }
}
