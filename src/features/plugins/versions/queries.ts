// SQL statements about versions: what a plugin is, kept under its hash for those who have accepted it.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'

/** Files that do something; others are only kept. */
const FILES = sql`('index.ts', 'site.ts', 'frontend.tsx')`

/** The hash of plugin `p`: it changes with anything that decides what the plugin does. */
export const HASH = sql`encode(sha256(convert_to(concat_ws(E'\\n', p.config_schema::text, p.public_jobs::text,
  p.capabilities::text, (
    SELECT string_agg(f.filename || ' ' || f.hash, E'\\n' ORDER BY f.filename COLLATE "C")
    FROM plugin_source_file f WHERE f.plugin_id = p.id AND f.filename IN ${FILES})), 'UTF8')), 'hex')`

/** As it stands now; nobody changes it, or forgets versions of it, until the transaction ends. */
export async function lockCurrentVersion(tx: Db, plugin_id: number): Promise<string | undefined> {
  await tx.run(sql`SELECT FROM plugin WHERE id = ${plugin_id} FOR NO KEY UPDATE`)
  // Another statement: it sees what was changed while the first one waited.
  const row = await tx.row<{ hash: string }>(
    sql`SELECT ${HASH} AS hash FROM plugin p WHERE p.id = ${plugin_id}`,
  )
  return row?.hash
}

/** Keeps the plugin as it is under its hash. It must be locked. */
export async function keepVersion(tx: Db, plugin_id: number, hash: string, now: Date): Promise<void> {
  const added = await tx.run(sql`
    INSERT INTO plugin_version (plugin_id, hash, config_schema, capabilities, metrics, public_jobs, removes, errors, tag,
      created_at)
    SELECT id, ${hash}, config_schema, capabilities, metrics, public_jobs, removes, errors, tag, ${now}
    FROM plugin WHERE id = ${plugin_id} ON CONFLICT DO NOTHING`)
  if (added === 0) return
  await tx.run(sql`
    INSERT INTO plugin_version_file (plugin_id, hash, filename, transpiled, mappings, status, error)
    SELECT plugin_id, ${hash}, filename, transpiled, mappings, status, error
    FROM plugin_source_file WHERE plugin_id = ${plugin_id} AND filename IN ${FILES}`)
}

/** Those that no config has any more. The plugin must be locked. */
export async function forgetVersions(tx: Db, plugin_id: number): Promise<void> {
  await tx.run(sql`
    DELETE FROM plugin_version v WHERE v.plugin_id = ${plugin_id} AND NOT EXISTS (
      SELECT FROM plugin_config c WHERE c.plugin_id = v.plugin_id AND c.version = v.hash)`)
}
