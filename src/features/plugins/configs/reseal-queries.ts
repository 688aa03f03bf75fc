// SQL statements for a change of SECRET_KEY, over all projects. They do nothing where somebody has changed a secret
// meanwhile, and are no change to what they touch: its times stay.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { PluginConfigRow, PluginRow } from '../rows.ts'
import type { AttachmentRow } from './settings.ts'

type SealedConfig = Pick<PluginConfigRow, 'project_id' | 'id' | 'secrets'>
type SealedAttachment = Pick<AttachmentRow, 'id' | 'plugin_config_id' | 'key' | 'contents'>
type SealedToken = Pick<PluginRow, 'id'> & { private_token: string }

export function listSealedConfigs(db: Db): Promise<SealedConfig[]> {
  return db.rows(sql`SELECT project_id, id, secrets FROM plugin_config`)
}

export async function replaceSealedConfig(db: Db, row: SealedConfig, sealed: string): Promise<void> {
  await db.run(sql`
    UPDATE plugin_config SET secrets = ${sealed}
    WHERE project_id = ${row.project_id} AND id = ${row.id} AND secrets = ${row.secrets}`)
}

/** Files are large: their beginnings tell which key they are sealed under. */
export function listSealedAttachmentHeads(db: Db): Promise<{ id: number; head: string }[]> {
  return db.rows(sql`SELECT id, left(contents, 100) AS head FROM plugin_attachment`)
}

export function findSealedAttachment(db: Db, id: number): Promise<SealedAttachment | undefined> {
  return db.row(sql`SELECT id, plugin_config_id, key, contents FROM plugin_attachment WHERE id = ${id}`)
}

export async function replaceSealedAttachment(db: Db, row: SealedAttachment, sealed: string): Promise<void> {
  await db.run(sql`
    UPDATE plugin_attachment SET contents = ${sealed} WHERE id = ${row.id} AND contents = ${row.contents}`)
}

export function listSealedTokens(db: Db): Promise<SealedToken[]> {
  return db.rows(sql`SELECT id, private_token FROM plugin WHERE private_token IS NOT NULL`)
}

export async function replaceSealedToken(db: Db, row: SealedToken, sealed: string): Promise<void> {
  await db.run(sql`
    UPDATE plugin SET private_token = ${sealed} WHERE id = ${row.id} AND private_token = ${row.private_token}`)
}
