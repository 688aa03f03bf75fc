// Lines of an export's log, for the people who own it: short, without secrets, on one line.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { LogLevel } from '../rows.ts'

const MAX_CHARACTERS = 4_000

/** `run_id` is null for what concerns the export as a whole. */
export type LogOwner = { project_id: number; batch_export_id: string; run_id: string | null }

export async function writeLog(
  db: Db,
  { project_id, batch_export_id, run_id }: LogOwner,
  level: LogLevel,
  message: string,
  now: Date,
): Promise<void> {
  await db.run(sql`
    INSERT INTO batch_export_log (project_id, batch_export_id, run_id, timestamp, level, message)
    VALUES (${project_id}, ${batch_export_id}, ${run_id}, ${now}, ${level}, ${oneLine(message)})`)
}

/** Whoever writes a log for others can forge lines of it, and send terminals codes. */
export function oneLine(text: string): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ').trim()
  return plain.length <= MAX_CHARACTERS ? plain : `${plain.slice(0, MAX_CHARACTERS)}…`
}
