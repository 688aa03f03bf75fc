// At each start the table learns of the apps in this version of the server. None is removed: projects may have it
// configured, and an older server on the same database may still run it.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { Capabilities } from '../rows.ts'
import { INLINE_APPS } from './index.ts'
import type { InlineApp } from './inline-app.ts'

const CAPABILITIES: Required<Capabilities> = { methods: ['processEvent'], jobs: [], scheduled_tasks: [] }

export async function syncInlinePlugins(db: Db, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    for (const app of INLINE_APPS.values()) {
      await updateInlinePlugin(tx, app, now)
      await insertInlinePlugin(tx, app, now)
    }
  })
}

/** Touches the row only when something differs. */
async function updateInlinePlugin(db: Db, app: InlineApp, now: Date): Promise<void> {
  const config_schema = JSON.stringify(app.config_schema)
  const capabilities = JSON.stringify(CAPABILITIES)
  await db.run(sql`
    UPDATE plugin SET name = ${app.name}, description = ${app.description}, config_schema = ${config_schema},
      capabilities = ${capabilities}, removes = ${app.removes}, is_global = true, updated_at = ${now}
    WHERE organization_id IS NULL AND url = ${app.url}
      AND (name, description, config_schema::text, capabilities, removes, is_global)
        IS DISTINCT FROM (${app.name}, ${app.description}, ${config_schema}, ${capabilities}::jsonb, ${app.removes}, true)`)
}

/** Asks first instead of running into the conflict, which would use up an id at each start. */
async function insertInlinePlugin(db: Db, app: InlineApp, now: Date): Promise<void> {
  await db.run(sql`
    INSERT INTO plugin (organization_id, plugin_type, name, description, url, config_schema, is_global, capabilities,
      removes, metrics, public_jobs, created_via_family, created_at, updated_at)
    SELECT NULL, 'inline', ${app.name}, ${app.description}, ${app.url}, ${JSON.stringify(app.config_schema)}::json, true,
      ${JSON.stringify(CAPABILITIES)}::jsonb, ${app.removes}, '{}', '{}', 'pipeline_transformations', ${now}, ${now}
    WHERE NOT EXISTS (SELECT FROM plugin WHERE organization_id IS NULL AND url = ${app.url})
    ON CONFLICT DO NOTHING`)
}
