// SQL statements about the files of plugins, and about what their configs are told when code does not load.
import { createHash } from 'node:crypto'
import { randomUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { SourceFileRow } from './rows.ts'

export type StoredFile = Pick<
  SourceFileRow,
  'filename' | 'source' | 'transpiled' | 'mappings' | 'status' | 'error'
>

/** The caller has checked that the plugin is within reach: files have no owner of their own. */
export function listFiles(db: Db, plugin_id: number): Promise<StoredFile[]> {
  return db.rows(sql`
    SELECT filename, source, transpiled, mappings, status, error FROM plugin_source_file
    WHERE plugin_id = ${plugin_id} ORDER BY filename`)
}

export async function hasFile(db: Db, plugin_id: number, filename: string): Promise<boolean> {
  const row = await db.row(sql`
    SELECT 1 FROM plugin_source_file WHERE plugin_id = ${plugin_id} AND filename = ${filename}`)
  return row !== undefined
}

export async function writeFile(db: Db, plugin_id: number, file: StoredFile, now: Date): Promise<void> {
  const { filename, source, transpiled, mappings, status, error } = file
  const hash = createHash('sha256').update(source).digest('hex')
  await db.run(sql`
    INSERT INTO plugin_source_file (plugin_id, filename, source, hash, transpiled, mappings, status, error,
      updated_at)
    VALUES (${plugin_id}, ${filename}, ${source}, ${hash}, ${transpiled}, ${mappings}, ${status}, ${error}, ${now})
    ON CONFLICT (plugin_id, filename) DO UPDATE SET source = excluded.source, hash = excluded.hash,
      transpiled = excluded.transpiled,
      mappings = excluded.mappings, status = excluded.status, error = excluded.error, updated_at = excluded.updated_at`)
}

export async function deleteFiles(db: Db, plugin_id: number, filenames: readonly string[]): Promise<void> {
  await db.run(sql`
    DELETE FROM plugin_source_file WHERE plugin_id = ${plugin_id} AND filename = ANY(${filenames})`)
}

/** A line in the log of every config that runs it as it is: nobody should have to wait for an event to learn it. */
export async function logBrokenCode(db: Db, plugin_id: number, reason: string, now: Date): Promise<void> {
  const message = `The code does not run: ${reason}`
  await db.run(sql`
    INSERT INTO plugin_log (project_id, plugin_id, plugin_config_id, timestamp, source, type, message, instance_id)
    SELECT project_id, plugin_id, id, ${now}, 'SYSTEM', 'ERROR', ${message}, ${randomUuid()}
    FROM plugin_config WHERE plugin_id = ${plugin_id} AND version IS NULL AND NOT deleted`)
}
