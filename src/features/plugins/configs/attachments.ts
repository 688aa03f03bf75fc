// Files that belong to settings: what a form brings, and what becomes of those that are stored.
import type { JsonObject } from '../../../lib/json-object.ts'
import type { Db } from '../../../platform/db/database.ts'
import { UploadedFile } from '../../../platform/http/body.ts'
import { invalid } from '../../../platform/http/errors.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { Activity } from '../../activity-log/record.ts'
import type { SchemaField } from '../config-schema.ts'
import type { PluginConfigRow } from '../rows.ts'
import {
  deleteAttachment,
  sumAttachmentBytes,
  writeAttachment,
  type AttachmentFacts,
} from './attachment-queries.ts'
import { SECRET_MASK } from './change-settings.ts'
import { sealAttachment } from './settings.ts'

export type AttachmentChanges = { added: ReadonlyMap<string, UploadedFile>; removed: ReadonlySet<string> }

const MAX_ATTACHMENTS = 20
const MAX_BYTES = 10 * 1024 * 1024
const MAX_PROJECT_BYTES = 50 * 1024 * 1024
const MAX_TEXT = 200
const FIELD = /^(add|remove)_attachment\[(.+)\]$/s

export function readAttachmentChanges(
  fields: readonly SchemaField[],
  body: Readonly<Record<string, unknown>>,
): AttachmentChanges {
  const added = new Map<string, UploadedFile>()
  const removed = new Set<string>()
  for (const [attr, value] of Object.entries(body)) {
    const [, action, key] = FIELD.exec(attr) ?? []
    if (key === undefined) continue
    if (key.length > MAX_TEXT) throw invalid('config', 'max_length', 'The key of a file is too long.')
    if (action === 'remove') removed.add(key)
    else if (!isLeftBlank(value)) added.set(key, checkedFile(fields, attr, key, value))
  }
  return { added, removed }
}

/** The keys there will be. */
export function keysAfter(
  stored: readonly AttachmentFacts[],
  { added, removed }: AttachmentChanges,
): Set<string> {
  const kept = stored.map(({ key }) => key).filter((key) => !removed.has(key))
  const keys = new Set([...kept, ...added.keys()])
  if (keys.size > MAX_ATTACHMENTS) {
    throw invalid('config', 'max_length', `A config can have ${MAX_ATTACHMENTS} attachments at most.`)
  }
  return keys
}

/** Gives the entries for the activity log, which hold names and never what is in a file. */
export async function storeAttachments(
  tx: Db,
  secrets: Secrets,
  { id, project_id }: Pick<PluginConfigRow, 'id' | 'project_id'>,
  stored: readonly AttachmentFacts[],
  { added, removed }: AttachmentChanges,
): Promise<Pick<Activity, 'activity' | 'changes'>[]> {
  const there = new Set(stored.map(({ key }) => key))
  const gone = [...removed].filter((key) => there.has(key) && !added.has(key))
  for (const key of gone) await deleteAttachment(tx, project_id, id, key)
  for (const [key, { name, type, bytes }] of added) {
    const contents = sealAttachment(secrets, id, key, bytes)
    const file = { content_type: type || 'application/octet-stream', file_name: name, size: bytes.length }
    await writeAttachment(tx, project_id, { plugin_config_id: id, key, contents, ...file })
  }
  return [
    ...gone.map((key) => entry('attachment_deleted', 'deleted', key)),
    ...[...added.keys()].map((key) =>
      there.has(key)
        ? entry('attachment_updated', 'changed', key)
        : entry('attachment_created', 'created', key),
    ),
  ]
}

/** 400 when the files of the project are too large together; for a transaction that has locked it. */
export async function assertRoomForAttachments(
  tx: Db,
  { id, project_id }: Pick<PluginConfigRow, 'id' | 'project_id'>,
): Promise<void> {
  if ((await sumAttachmentBytes(tx, project_id, id)) <= MAX_PROJECT_BYTES) return
  throw invalid('config', 'max_length', 'The attachments of a project can have 50 MB together at most.')
}

/** As `config` shows it. Of a secret one it only shows that there is one. */
export function presentAttachment(
  fields: readonly SchemaField[],
  { id, key, size, file_name, content_type }: AttachmentFacts,
): JsonObject {
  return fields.some((field) => field.key === key && field.secret)
    ? { uid: -1, saved: true, size: -1, name: SECRET_MASK, type: 'application/octet-stream' }
    : { uid: id, saved: true, size, name: file_name, type: content_type }
}

/** What forms have where no file was chosen: one without name and content, or just an empty text. */
function isLeftBlank(value: unknown): boolean {
  return value instanceof UploadedFile ? value.name === '' && value.bytes.length === 0 : value === ''
}

function checkedFile(fields: readonly SchemaField[], attr: string, key: string, file: unknown): UploadedFile {
  if (!(file instanceof UploadedFile)) {
    throw invalid(
      attr,
      'invalid_input',
      'A file is expected here, in a form of the type multipart/form-data.',
    )
  }
  if (fields.some((field) => field.key === key && field.type !== 'attachment')) {
    throw invalid(attr, 'invalid_input', 'This setting is not a file.')
  }
  if (file.bytes.length > MAX_BYTES) throw invalid(attr, 'max_length', 'A file can have 10 MB at most.')
  if (Math.max(file.name.length, file.type.length) > MAX_TEXT) {
    throw invalid(attr, 'max_length', `Its name and type can have ${MAX_TEXT} characters at most.`)
  }
  return file
}

function entry(
  activity: 'attachment_created' | 'attachment_updated' | 'attachment_deleted',
  action: 'created' | 'changed' | 'deleted',
  key: string,
): Pick<Activity, 'activity' | 'changes'> {
  return { activity, changes: [{ type: 'PluginConfig', action, field: key, before: null, after: null }] }
}
