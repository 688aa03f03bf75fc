// A config's settings in two parts: what may be shown, and the secrets, which are sealed for the row they stand in and
// leave it only for the app itself.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { Attachment } from '../../../platform/sandbox/sandbox.ts'
import type { Place, Secrets } from '../../../platform/secrets/secrets.ts'
import { readConfigSchema, type SchemaField } from '../config-schema.ts'
import type { PluginConfigRow } from '../rows.ts'

export type AttachmentRow = {
  id: number
  plugin_config_id: number
  key: string
  content_type: string
  file_name: string
  size: number
  /** Base64, sealed. */
  contents: string
}

/** What may be shown, and the secrets. */
export type ConfigParts = { config: JsonObject; secrets: JsonObject }

type StoredSettings = Pick<PluginConfigRow, 'id' | 'config' | 'secrets'>

/** What the app gets: secrets in clear, defaults filled in. For the clockwork alone. */
export function openSettings(
  secrets: Secrets,
  config_schema: unknown,
  row: StoredSettings,
  attachments: readonly AttachmentRow[],
): { config: JsonObject; attachments: Record<string, Attachment> } {
  const config = new Map(Object.entries(wholeConfig(secrets, row)))
  for (const field of readConfigSchema(config_schema)) {
    const value = valueOrDefault(field, config.get(field.key))
    if (value !== undefined) config.set(field.key, value)
  }
  return {
    config: Object.fromEntries(config),
    attachments: Object.fromEntries(attachments.map((each) => [each.key, openAttachment(secrets, each)])),
  }
}

/** As it was sent, secrets in place. */
function wholeConfig(secrets: Secrets, row: StoredSettings): JsonObject {
  return { ...row.config, ...openSecretConfig(secrets, row) }
}

/** The two parts. Secrets that were sealed under a key that is gone are as good as not there: they can be sent again. */
export function readParts(secrets: Secrets, row: StoredSettings): ConfigParts {
  try {
    return { config: row.config, secrets: openSecretConfig(secrets, row) }
  } catch {
    return { config: row.config, secrets: {} }
  }
}

function openSecretConfig(secrets: Secrets, { id, secrets: sealed }: StoredSettings): JsonObject {
  const opened: unknown = JSON.parse(secrets.open(sealed, sealedConfig(id)))
  return isObject(opened) ? opened : {}
}

export function sealSecretConfig(secrets: Secrets, id: number, config: JsonObject): string {
  return secrets.seal(JSON.stringify(config), sealedConfig(id))
}

export function sealAttachment(
  secrets: Secrets,
  plugin_config_id: number,
  key: string,
  bytes: Buffer,
): string {
  return secrets.seal(bytes.toString('base64'), sealedAttachment({ plugin_config_id, key }))
}

function openAttachment(secrets: Secrets, row: AttachmentRow): Attachment {
  const { content_type, file_name } = row
  return { content_type, file_name, contents: secrets.open(row.contents, sealedAttachment(row)) }
}

/** Moved to another row, a sealed value cannot be opened. */
export function sealedConfig(id: number): Place {
  return { table: 'plugin_config', row: String(id), column: 'secrets' }
}

export function sealedAttachment({
  plugin_config_id,
  key,
}: Pick<AttachmentRow, 'plugin_config_id' | 'key'>): Place {
  return { table: 'plugin_attachment', row: `${plugin_config_id} ${key}`, column: 'contents' }
}

export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

/** A blank is a value of a field that may be blank. */
export function valueOrDefault(field: SchemaField, value: unknown): unknown {
  const isMissing = field.required ? !hasValue(value) : (value ?? null) === null
  return isMissing ? field.default : value
}
