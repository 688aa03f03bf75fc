// SQL statements that write logs.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { LogType } from '../../../platform/sandbox/sandbox.ts'

export type LogSource = 'SYSTEM' | 'PLUGIN' | 'CONSOLE'

export type NewLine = {
  project_id: number
  plugin_id: number
  plugin_config_id: number
  timestamp: Date
  source: LogSource
  type: LogType
  message: string
}

const DEBUG_KEPT_MS = 3_600_000
const MAX_LINES = 10_000

/** In their order. Lines of configs that are gone are left out, and DEBUG lines of those that nobody works on. */
export async function insertLines(
  db: Db,
  lines: readonly NewLine[],
  instance_id: string,
  now: Date,
): Promise<void> {
  const debug_since = new Date(now.getTime() - DEBUG_KEPT_MS)
  const column = <Name extends keyof NewLine>(name: Name) => lines.map((line) => line[name])
  await db.run(sql`
    INSERT INTO plugin_log (project_id, plugin_id, plugin_config_id, timestamp, source, type, message, instance_id)
    SELECT line.project_id, line.plugin_id, line.plugin_config_id, line.timestamp, line.source, line.type, line.message,
      ${instance_id}
    FROM unnest(${column('project_id')}::int[], ${column('plugin_id')}::int[], ${column('plugin_config_id')}::int[],
      ${column('timestamp')}::timestamptz[], ${column('source')}::text[], ${column('type')}::text[],
      ${column('message')}::text[]) WITH ORDINALITY
      AS line (project_id, plugin_id, plugin_config_id, timestamp, source, type, message, number)
    JOIN plugin_config c ON c.id = line.plugin_config_id AND c.project_id = line.project_id
    JOIN plugin p ON p.id = c.plugin_id
    WHERE line.type <> 'DEBUG' OR greatest(c.updated_at, p.updated_at) > ${debug_since}
    ORDER BY line.number`)
}

/** Whatever a config had to say before its newest lines goes. */
export async function keepNewest(db: Db, plugin_config_ids: readonly number[]): Promise<void> {
  await db.run(sql`
    DELETE FROM plugin_log USING unnest(${plugin_config_ids}::int[]) AS config (id), LATERAL (
      SELECT plugin_log.id FROM plugin_log WHERE plugin_log.plugin_config_id = config.id
      ORDER BY plugin_log.id DESC OFFSET ${MAX_LINES} LIMIT 1) AS newest_gone
    WHERE plugin_log.plugin_config_id = config.id AND plugin_log.id <= newest_gone.id`)
}
