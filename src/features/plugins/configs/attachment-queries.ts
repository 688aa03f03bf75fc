// SQL statements about the files of configs.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { AttachmentRow } from './settings.ts'

export type AttachmentFacts = Omit<AttachmentRow, 'contents'>

/** Without what is in them. */
export function listAttachments(
  db: Db,
  project_id: number,
  config_ids: readonly number[],
): Promise<AttachmentFacts[]> {
  return db.rows(sql`
    SELECT id, plugin_config_id, key, content_type, file_name, size FROM plugin_attachment
    WHERE project_id = ${project_id} AND plugin_config_id = ANY(${config_ids}::int[]) ORDER BY id`)
}

/** Sizes in all configs of a project that are not deleted, and in this one. */
export async function sumAttachmentBytes(db: Db, project_id: number, config_id: number): Promise<number> {
  const { bytes } = await db.only<{ bytes: number }>(sql`
    SELECT coalesce(sum(a.size), 0)::float8 AS bytes
    FROM plugin_attachment a JOIN plugin_config c ON c.id = a.plugin_config_id
    WHERE a.project_id = ${project_id} AND (NOT c.deleted OR c.id = ${config_id})`)
  return bytes
}

export async function writeAttachment(
  db: Db,
  project_id: number,
  row: Omit<AttachmentRow, 'id'>,
): Promise<void> {
  await db.run(sql`
    INSERT INTO plugin_attachment (project_id, plugin_config_id, key, content_type, file_name, size, contents)
    VALUES (${project_id}, ${row.plugin_config_id}, ${row.key}, ${row.content_type}, ${row.file_name}, ${row.size},
      ${row.contents})
    ON CONFLICT (plugin_config_id, key) DO UPDATE SET content_type = excluded.content_type,
      file_name = excluded.file_name, size = excluded.size, contents = excluded.contents`)
}

export async function deleteAttachment(
  db: Db,
  project_id: number,
  plugin_config_id: number,
  key: string,
): Promise<void> {
  await db.run(sql`
    DELETE FROM plugin_attachment
    WHERE project_id = ${project_id} AND plugin_config_id = ${plugin_config_id} AND key = ${key}`)
}
