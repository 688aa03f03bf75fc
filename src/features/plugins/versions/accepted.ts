// Configs with their plugin as it is for them: as the project has accepted it, or, without a version, as it is. Whatever
// runs, shows or serves something of a config reads it from here, so that nothing comes past what was accepted.
import { sql, type Statement } from '../../../platform/db/sql.ts'

/** For FROM: the row `c` is the config, the row `p` its plugin. */
export const CONFIGS = sql`plugin_config c JOIN LATERAL (
  SELECT plugin.id, plugin.organization_id, plugin.plugin_type, plugin.name, plugin.description, plugin.url,
    plugin.private_token, plugin.icon, plugin.is_global, plugin.latest_tag_checked_at, plugin.created_via_family,
    plugin.created_at,
    coalesce(v.config_schema, plugin.config_schema) AS config_schema,
    coalesce(v.capabilities, plugin.capabilities) AS capabilities,
    coalesce(v.removes, plugin.removes) AS removes,
    coalesce(v.errors, plugin.errors) AS errors,
    coalesce(v.created_at, plugin.updated_at) AS updated_at,
    CASE WHEN v.hash IS NULL THEN plugin.metrics ELSE v.metrics END AS metrics,
    CASE WHEN v.hash IS NULL THEN plugin.public_jobs ELSE v.public_jobs END AS public_jobs,
    CASE WHEN v.hash IS NULL THEN plugin.tag ELSE v.tag END AS tag,
    CASE WHEN v.hash IS NULL THEN plugin.latest_tag ELSE plugin.tag END AS latest_tag
  FROM plugin LEFT JOIN plugin_version v ON v.plugin_id = plugin.id AND v.hash = c.version
  WHERE plugin.id = c.plugin_id) p ON true`

/** After CONFIGS: the row `f` is a file of that plugin, translated. */
export function withFile(filename: string): Statement {
  return sql`JOIN LATERAL (
    SELECT transpiled, mappings, status, error, updated_at FROM plugin_source_file
    WHERE c.version IS NULL AND plugin_id = c.plugin_id AND filename = ${filename}
    UNION ALL
    SELECT transpiled, mappings, status, error, p.updated_at FROM plugin_version_file
    WHERE plugin_id = c.plugin_id AND hash = c.version AND filename = ${filename}) f ON true`
}
