// SQL statements about configs whose app brings a script for web pages. Only what is switched on and transpiled counts.
import type { Db } from '../../../platform/db/database.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import type { PluginConfigRow } from '../rows.ts'
import { CONFIGS, withFile } from '../versions/accepted.ts'

/** What its address is made of. */
export type SiteAppPlace = Pick<PluginConfigRow, 'id' | 'web_token'> & {
  config_updated_at: Date
  plugin_updated_at: Date
  file_updated_at: Date
}

export type SiteAppRow = SiteAppPlace &
  Pick<PluginConfigRow, 'project_id' | 'config'> & { config_schema: unknown; transpiled: string }

const PLACE = sql`c.id, c.web_token, c.updated_at AS config_updated_at, p.updated_at AS plugin_updated_at,
  f.updated_at AS file_updated_at`
const SITE_APPS = sql`${CONFIGS} ${withFile('site.ts')}`
const IS_SERVED = sql`c.enabled AND NOT c.deleted AND f.status = 'TRANSPILED' AND f.transpiled IS NOT NULL`

/** In the order in which they are to run. */
export function listSiteApps(db: Db, project_id: number): Promise<SiteAppPlace[]> {
  return db.rows(placesWhere(sql`c.project_id = ${project_id}`))
}

export function findSiteAppPlace(
  db: Db,
  project_id: number,
  plugin_config_id: number,
): Promise<SiteAppPlace | undefined> {
  return db.row(placesWhere(sql`c.project_id = ${project_id} AND c.id = ${plugin_config_id}`))
}

/** In any project: the caller has nothing but the address. */
export function findSiteApp(db: Db, plugin_config_id: number): Promise<SiteAppRow | undefined> {
  return db.row(sql`
    SELECT ${PLACE}, c.project_id, c.config, p.config_schema, f.transpiled
    FROM ${SITE_APPS} WHERE c.id = ${plugin_config_id} AND ${IS_SERVED}`)
}

function placesWhere(condition: Statement): Statement {
  return sql`
    SELECT ${PLACE} FROM ${SITE_APPS} WHERE ${condition} AND ${IS_SERVED} ORDER BY c."order", c.plugin_id, c.id`
}
