// A log line's row → its JSON in the API.
import type { z } from 'zod'
import type { LogRow } from '../rows.ts'
import type { LogEntry } from './schema.ts'

export function presentLog(row: LogRow): z.input<typeof LogEntry> {
  return {
    team_id: row.project_id,
    batch_export_id: row.batch_export_id,
    run_id: row.run_id,
    timestamp: row.timestamp.toISOString(),
    level: row.level,
    message: row.message,
  }
}
