// The settings of a trial: those that were sent, or those of a config. Stored secrets reach code only as it is saved and
// with settings as they are saved: nobody reads them by trying, without a trace, what they would have to save otherwise.
import type { JsonObject } from '../../../lib/json-object.ts'
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { Caller, Level } from '../../../platform/http/caller.ts'
import { invalid } from '../../../platform/http/errors.ts'
import type { Attachment } from '../../../platform/sandbox/sandbox.ts'
import { Redactor } from '../../../platform/secrets/redactor.ts'
import type { Services } from '../../../platform/services.ts'
import { isReachable } from '../../projects/access.ts'
import { readConfigSchema, type SchemaField } from '../config-schema.ts'
import { openSettings, secretValues, withDefaults } from '../configs/settings.ts'
import type { PluginConfigRow, PluginRow } from '../rows.ts'
import { CONFIGS } from '../versions/accepted.ts'
import { listAttachments } from '../running/queries.ts'
import type { TestRequest } from './schema.ts'

export type TrialSettings = {
  config: JsonObject
  attachments: Record<string, Attachment>
  redactor: Redactor
}

type Asking = { services: Services; db: Db; caller: Caller; organization: { id: string }; level: Level }

export async function readTrialSettings(
  asking: Asking,
  plugin: PluginRow,
  fields: readonly SchemaField[],
  { plugin_config, config, files }: TestRequest,
): Promise<TrialSettings> {
  const sent = config ?? {}
  if (plugin_config === undefined) return settingsOf(fields, sent, {})
  const row = await getConfig(asking, plugin.id, plugin_config)
  const { services, db, organization } = asking
  const stored = openSettings(services.secrets, plugin.config_schema, row, await listAttachments(db, row.id))
  const isTrusted = plugin.organization_id === organization.id || plugin.plugin_type === 'inline'
  if (isTrusted && config === undefined && files === undefined) return stored
  // Also by the settings as they are saved: a manifest that is sent along, or a newer version, calls no secret open.
  const saved = readConfigSchema(row.config_schema)
  const isSecret = (name: string) => [...fields, ...saved].some(({ key, secret }) => secret && key === name)
  const isSaved = (name: string) => saved.some(({ key }) => key === name)
  return settingsOf(
    fields,
    { ...only(row.config, (key) => !isSecret(key)), ...sent },
    only(stored.attachments, (key) => isSaved(key) && !isSecret(key)),
  )
}

function settingsOf(
  fields: readonly SchemaField[],
  given: JsonObject,
  attachments: Record<string, Attachment>,
): TrialSettings {
  const config = withDefaults(fields, given)
  return { config, attachments, redactor: new Redactor(secretValues(fields, config)) }
}

function only<Value>(
  values: Record<string, Value>,
  isMeant: (key: string) => boolean,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => isMeant(key)))
}

type AcceptedConfig = PluginConfigRow & Pick<PluginRow, 'config_schema'>

/** A config in a project that the caller has access to, with the settings that its version has. */
async function getConfig(
  { db, caller, organization, level }: Asking,
  plugin_id: number,
  id: number,
): Promise<AcceptedConfig> {
  const row = await db.row<AcceptedConfig>(sql`
    SELECT c.*, p.config_schema FROM ${CONFIGS} JOIN project ON project.id = c.project_id
    WHERE project.organization_id = ${organization.id} AND c.plugin_id = ${plugin_id} AND c.id = ${id}
      AND NOT c.deleted AND ${isReachable(caller, level)}`)
  if (!row)
    throw invalid('plugin_config', 'does_not_exist', 'The plugin has no such config in your projects.')
  return row
}
