// Changes to a stored config: one transaction on the locked row, with what happened in the activity log. What changes
// nothing stores nothing, and nobody is told.
import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../../platform/db/database.ts'
import { invalid, notFound } from '../../../platform/http/errors.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { changesBetween, type Activity } from '../../activity-log/record.ts'
import { lockProject } from '../../projects/queries.ts'
import { recordConfigActivity } from '../activity.ts'
import { readConfigSchema, type SchemaField } from '../config-schema.ts'
import { beginDeliveries } from '../delivery/begin.ts'
import { assertFilters } from '../delivery/filters.ts'
import type { PluginConfigRow } from '../rows.ts'
import { findNextVersion, pinVersion } from '../versions/accept.ts'
import { forgetVersions } from '../versions/queries.ts'
import { listAttachments } from './attachment-queries.ts'
import {
  assertRoomForAttachments,
  keysAfter,
  readAttachmentChanges,
  storeAttachments,
  type AttachmentChanges,
} from './attachments.ts'
import { changedSettings } from './change-settings.ts'
import { namedConfig, type Change } from './create.ts'
import type { Addressed } from './place.ts'
import { countConfigs, lockConfig, updateConfig } from './queries.ts'
import { assertComplete, assertReadable, assertRoom } from './rules.ts'
import type { ConfigUpdate } from './schema.ts'
import { settingsChanges } from './settings-changes.ts'
import { readParts, sealSecretConfig } from './settings.ts'

type What = Pick<Activity, 'activity' | 'changes'>

const PLAIN_FIELDS = ['order', 'name', 'description', 'filters', 'on_failure'] as const

export async function changeConfig(
  change: Change,
  addressed: Addressed,
  sent: ConfigUpdate,
): Promise<Addressed> {
  const { services, db, now } = change
  const { project } = addressed
  const { secrets } = services
  const accepted = await findNextVersion(db, addressed.row, project, sent.version)
  const plugin = accepted ?? addressed.plugin
  const fields = readConfigSchema(plugin.config_schema)
  const attachments = readAttachmentChanges(fields, sent)
  // Clients send back what they have read.
  if (!isDeepStrictEqual(sent.filters, addressed.row.filters))
    assertFilters(sent.filters, services.eventStore.engine)
  return db.transaction(async (tx) => {
    if (sent.deleted === false || attachments.added.size > 0)
      await lockProject(tx, project.organization_id, project.id)
    if (accepted) await pinVersion(tx, accepted, 'version', now)
    const before = await lockConfig(tx, project.id, addressed.row.id)
    const stored = await listAttachments(tx, project.id, [before.id])
    const columns = differing(before, {
      ...plainColumns(sent),
      ...switchColumns(before, sent),
      ...settingsColumns(secrets, fields, before, sent),
      ...(accepted ? { version: accepted.hash } : {}),
    })
    const attached = keysAfter(stored, attachments)
    const wanted = { ...before, ...columns }
    if (columns.config || columns.secrets) assertReadable(plugin, readParts(secrets, wanted))
    if (wanted.enabled && isAboutRunning(sent, attachments)) {
      assertComplete(fields, readParts(secrets, wanted), attached)
    }
    if (before.deleted && !wanted.deleted) await assertRoomIn(tx, project.id)
    const happened = await storeAttachments(tx, secrets, before, stored, attachments)
    if (attachments.added.size > 0 || (before.deleted && !wanted.deleted))
      await assertRoomForAttachments(tx, before)
    if (Object.keys(columns).length === 0 && happened.length === 0) return { ...addressed, row: before }
    const after = await updateConfig(tx, before, { ...columns, ...forgivenError(columns, happened) }, now)
    if (accepted) await forgetVersions(tx, plugin.id)
    if (after.enabled && (accepted || !before.enabled))
      await beginDeliveries(tx, services.eventStore, after, plugin)
    for (const what of [...describeChanges(secrets, fields, before, after), ...happened]) {
      await recordConfigActivity(tx, change, project.organization_id, namedConfig(after, plugin), what)
    }
    await services.changes.tell(tx, 'plugin-config', after.id, project.id)
    return { ...addressed, row: after }
  })
}

/** 404 the second time, also for two at once. */
export async function deleteConfig(change: Change, addressed: Addressed): Promise<void> {
  await change.db.transaction(async (tx) => {
    const row = await lockConfig(tx, addressed.project.id, addressed.row.id)
    if (row.deleted) throw notFound()
    await changeConfig({ ...change, db: tx }, { ...addressed, row }, { deleted: true })
  })
}

/** A new version of the plugin may ask for more; until that is given, the rest can still be changed. */
function isAboutRunning(sent: ConfigUpdate, { added, removed }: AttachmentChanges): boolean {
  const isSet = sent.config !== undefined || sent.version !== undefined
  return Boolean(sent.enabled) || isSet || added.size + removed.size > 0
}

function plainColumns(sent: ConfigUpdate): Partial<PluginConfigRow> {
  return Object.fromEntries(
    PLAIN_FIELDS.filter((field) => sent[field] !== undefined).map((field) => [field, sent[field]]),
  )
}

/** What is deleted is switched off, and stays so until it is restored. */
function switchColumns(row: PluginConfigRow, sent: ConfigUpdate): Partial<PluginConfigRow> {
  const deleted = sent.deleted ?? row.deleted
  if (deleted && sent.enabled && sent.deleted === undefined) {
    throw invalid('enabled', 'invalid_input', 'The config is deleted: restore it first.')
  }
  return { deleted, enabled: !deleted && (sent.enabled ?? row.enabled) }
}

/** Sealed anew only when a secret has changed: sealing the same one twice gives two texts. */
function settingsColumns(
  secrets: Secrets,
  fields: readonly SchemaField[],
  row: PluginConfigRow,
  sent: ConfigUpdate,
): Partial<PluginConfigRow> {
  if (sent.config === undefined) return {}
  const stored = readParts(secrets, row)
  const { config, secrets: kept } = changedSettings(fields, stored, sent.config)
  if (isDeepStrictEqual(kept, stored.secrets)) return { config }
  return { config, secrets: sealSecretConfig(secrets, row.id, kept) }
}

function differing(row: PluginConfigRow, wanted: Partial<PluginConfigRow>): Partial<PluginConfigRow> {
  const isNew = ([column, value]: [string, unknown]) =>
    !isDeepStrictEqual(row[column as keyof PluginConfigRow], value)
  return Object.fromEntries(Object.entries(wanted).filter(isNew))
}

async function assertRoomIn(tx: Db, project_id: number): Promise<void> {
  assertRoom(await countConfigs(tx, { project_id, family: 'plugins' }))
}

/** With other settings it may work: the clockwork tries again, and says so if it does not. */
function forgivenError(
  columns: Partial<PluginConfigRow>,
  attachments: readonly What[],
): Partial<PluginConfigRow> {
  const { enabled, config, secrets, version } = columns
  const isAnother = enabled || config || secrets || version || attachments.length > 0
  return isAnother ? { error: null } : {}
}

function describeChanges(
  secrets: Secrets,
  fields: readonly SchemaField[],
  before: PluginConfigRow,
  after: PluginConfigRow,
): What[] {
  const settings = settingsChanges(fields, readParts(secrets, before), readParts(secrets, after))
  const order = changesBetween('Plugin', before, after, ['order'])
  const isRestored = before.deleted && !after.deleted
  const others = changesBetween('PluginConfig', before, after, [
    'name',
    'description',
    'filters',
    'on_failure',
    'version',
    ...(isRestored ? (['deleted'] as const) : []),
  ])
  return [
    ...(others.length > 0 ? [{ activity: 'updated' as const, changes: others }] : []),
    ...(settings.length > 0 ? [{ activity: 'config_updated' as const, changes: settings }] : []),
    ...(order.length > 0 ? [{ activity: 'order_changed' as const, changes: order }] : []),
    ...(before.enabled === after.enabled
      ? []
      : [{ activity: after.enabled ? ('enabled' as const) : ('disabled' as const) }]),
    ...(!before.deleted && after.deleted ? [{ activity: 'deleted' as const }] : []),
  ]
}
