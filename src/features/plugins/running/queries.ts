// What is switched on, as the clockwork reads it, and the fault that it writes down for each config.
import type { Db } from '../../../platform/db/database.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import type { AttachmentFacts } from '../configs/attachment-queries.ts'
import type { AttachmentRow } from '../configs/settings.ts'
import type { PluginConfigRow, PluginRow, SourceFileRow } from '../rows.ts'
import { CONFIGS } from '../versions/accepted.ts'

/** Which configs to look at: one, those of one plugin, or all. */
export type Scope = { config_id: number } | { plugin_id: number } | 'all'

export type EnabledConfig = Pick<
  PluginConfigRow,
  | 'id'
  | 'project_id'
  | 'plugin_id'
  | 'order'
  | 'config'
  | 'secrets'
  | 'filters'
  | 'on_failure'
  | 'has_removed'
  | 'error'
  | 'version'
  | 'updated_at'
> & { organization_id: string; stamp: string } & {
  plugin: Pick<PluginRow, 'plugin_type' | 'name' | 'url' | 'config_schema' | 'capabilities' | 'removes'>
}

/** An organization that may not use plugins runs none. */
const ENABLED = sql`
  FROM ${CONFIGS} JOIN project ON project.id = c.project_id
  JOIN organization ON organization.id = project.organization_id
  LEFT JOIN plugin_source_file f ON c.version IS NULL AND f.plugin_id = p.id AND f.filename = 'index.ts'
  WHERE c.enabled AND NOT c.deleted AND organization.plugins_access_level > 0`

/** Another stamp: something was edited. */
const STAMP = sql`md5(concat_ws(' ', c.updated_at, c."order", c.version, c.has_removed, p.updated_at, f.updated_at))`

export function listStamps(db: Db, scope: Scope): Promise<{ id: number; stamp: string }[]> {
  return db.rows(sql`SELECT c.id, ${STAMP} AS stamp ${ENABLED} AND ${within(scope)}`)
}

export function listEnabledConfigs(db: Db, ids: readonly number[]): Promise<EnabledConfig[]> {
  return db.rows(sql`
    SELECT c.id, c.project_id, c.plugin_id, c."order", c.config, c.secrets, c.filters, c.on_failure, c.has_removed, c.error,
      c.version, c.updated_at,
      organization.id AS organization_id, ${STAMP} AS stamp,
      json_build_object('plugin_type', p.plugin_type, 'name', p.name, 'url', p.url, 'config_schema', p.config_schema,
        'capabilities', p.capabilities, 'removes', p.removes) AS plugin
    ${ENABLED} AND c.id = ANY(${ids})`)
}

function within(scope: Scope): Statement {
  if (scope === 'all') return sql`true`
  return 'config_id' in scope ? sql`c.id = ${scope.config_id}` : sql`c.plugin_id = ${scope.plugin_id}`
}

export type CodeRow = Pick<SourceFileRow, 'plugin_id' | 'transpiled' | 'mappings' | 'error'> &
  Pick<PluginConfigRow, 'version'>

/** The code that these configs run, each once: thousands may run the same. */
export function listCode(db: Db, config_ids: readonly number[]): Promise<CodeRow[]> {
  return db.rows(sql`
    WITH run AS (SELECT DISTINCT plugin_id, version FROM plugin_config WHERE id = ANY(${config_ids}))
    SELECT f.plugin_id, run.version, f.transpiled, f.mappings, f.error
    FROM run JOIN plugin_source_file f USING (plugin_id)
    WHERE run.version IS NULL AND f.filename = 'index.ts'
    UNION ALL
    SELECT f.plugin_id, run.version, f.transpiled, f.mappings, f.error
    FROM run JOIN plugin_version_file f ON f.plugin_id = run.plugin_id AND f.hash = run.version
    WHERE f.filename = 'index.ts'`)
}

/** `digest` is another one for other contents. */
export type DigestedFile = AttachmentFacts & { digest: string }

/** Without what is in them: together they may be larger than the memory. */
export function listDigests(db: Db, config_ids: readonly number[]): Promise<DigestedFile[]> {
  return db.rows(sql`
    SELECT id, plugin_config_id, key, content_type, file_name, size, md5(contents) AS digest FROM plugin_attachment
    WHERE plugin_config_id = ANY(${config_ids}) ORDER BY id`)
}

/** All of a config, or those with these keys. */
export function listAttachments(
  db: Db,
  config_id: number,
  keys: readonly string[] | null = null,
): Promise<AttachmentRow[]> {
  return db.rows(sql`
    SELECT id, plugin_config_id, key, content_type, file_name, size, contents FROM plugin_attachment
    WHERE plugin_config_id = ${config_id} AND (${keys}::text[] IS NULL OR key = ANY(${keys}::text[]))`)
}

/** No edit: the config's times stay. */
export async function setConfigError(
  db: Db,
  project_id: number,
  config_id: number,
  error: PluginConfigRow['error'],
): Promise<void> {
  await db.run(sql`
    UPDATE plugin_config SET error = ${error} WHERE project_id = ${project_id} AND id = ${config_id}`)
}

/** An error that passes by itself; one that somebody has to mend stands above it. */
export async function setPassingError(
  db: Db,
  project_id: number,
  config_id: number,
  error: NonNullable<PluginConfigRow['error']>,
): Promise<void> {
  await db.run(sql`
    UPDATE plugin_config SET error = ${{ ...error, passes: true }}
    WHERE project_id = ${project_id} AND id = ${config_id} AND (error IS NULL OR error ? 'passes')`)
}

export async function clearPassingError(db: Db, project_id: number, config_id: number): Promise<void> {
  await db.run(sql`
    UPDATE plugin_config SET error = NULL WHERE project_id = ${project_id} AND id = ${config_id} AND error ? 'passes'`)
}

/** Those of an earlier process: what is still so is found out anew. */
export async function clearPassingErrors(db: Db): Promise<void> {
  await db.run(sql`UPDATE plugin_config SET error = NULL WHERE error ? 'passes'`)
}

/** False when it was known. */
export async function setHasRemoved(db: Db, project_id: number, config_id: number): Promise<boolean> {
  const count = await db.run(sql`
    UPDATE plugin_config SET has_removed = true
    WHERE project_id = ${project_id} AND id = ${config_id} AND NOT has_removed`)
  return count > 0
}

/** False when somebody was faster. */
export async function switchOff(
  db: Db,
  project_id: number,
  config_id: number,
  error: PluginConfigRow['error'],
  now: Date,
): Promise<boolean> {
  const count = await db.run(sql`
    UPDATE plugin_config SET enabled = false, error = ${error}, updated_at = ${now}
    WHERE project_id = ${project_id} AND id = ${config_id} AND enabled`)
  return count > 0
}
