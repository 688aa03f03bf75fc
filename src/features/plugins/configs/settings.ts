// A config's settings in two parts: what may be shown, and the secrets, which are sealed for the row they stand in and
// leave it only for the app itself.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { Attachment } from '../../../platform/sandbox/sandbox.ts'
import { Redactor } from '../../../platform/secrets/redactor.ts'
import type { SealedCell, Secrets } from '../../../platform/secrets/secrets.ts'
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

/** Characters of base64, of all secret files of a config. Keys and certificates have a few kilobytes. */
const MAX_KNOWN = 256 * 1024

type StoredSettings = Pick<PluginConfigRow, 'id' | 'config' | 'secrets'>

export type OpenSettings = {
  config: JsonObject
  attachments: Record<string, Attachment>
  redactor: Redactor
}

/** What the app gets: secrets in clear, defaults filled in. For the clockwork alone. */
export function openSettings(
  secrets: Secrets,
  config_schema: unknown,
  row: StoredSettings,
  attachmentRows: readonly AttachmentRow[],
): OpenSettings {
  const fields = readConfigSchema(config_schema)
  const secret = openSecretConfig(secrets, row)
  const config = withDefaults(fields, { ...row.config, ...secret })
  const attachments = openAttachments(secrets, attachmentRows)
  const values = [secret, secretValues(fields, config), secretFiles(fields, attachments)]
  return { config, attachments, redactor: new Redactor(values) }
}

export function withDefaults(fields: readonly SchemaField[], given: JsonObject): JsonObject {
  const config = new Map(Object.entries(given))
  for (const field of fields) {
    const value = valueOrDefault(field, config.get(field.key))
    if (value !== undefined) config.set(field.key, value)
  }
  return Object.fromEntries(config)
}

/** Also of fields that a newer version of the app calls secret, while their values were stored among the others. */
export function secretValues(fields: readonly SchemaField[], config: JsonObject): unknown[] {
  return fields
    .filter(({ secret }) => secret)
    .map(({ key }) => (Object.hasOwn(config, key) ? config[key] : null))
}

function secretFiles(fields: readonly SchemaField[], attachments: Record<string, Attachment>): string[] {
  let left = MAX_KNOWN
  const contents = fields
    .filter(({ key, secret }) => secret && Object.hasOwn(attachments, key))
    .map(({ key }) => attachments[key]!.contents)
  return contents
    .toSorted((one, other) => one.length - other.length)
    .map((each) => {
      const known = each.slice(0, left)
      left -= known.length
      return Buffer.from(known, 'base64').toString()
    })
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

export function openAttachments(
  secrets: Secrets,
  rows: readonly AttachmentRow[],
): Record<string, Attachment> {
  return Object.fromEntries(rows.map((row) => [row.key, openAttachment(secrets, row)]))
}

function openAttachment(secrets: Secrets, row: AttachmentRow): Attachment {
  const { content_type, file_name } = row
  return { content_type, file_name, contents: secrets.open(row.contents, sealedAttachment(row)) }
}

/** Moved to another row, a sealed value cannot be opened. */
export function sealedConfig(id: number): SealedCell {
  return { table: 'plugin_config', row: String(id), column: 'secrets' }
}

export function sealedAttachment({
  plugin_config_id,
  key,
}: Pick<AttachmentRow, 'plugin_config_id' | 'key'>): SealedCell {
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
