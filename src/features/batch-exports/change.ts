// Changes to the fields of a stored export: one transaction on the locked row, with its entry in the activity log. What
// changes nothing stores nothing. PATCH and PUT come here, and pausing too.
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../lib/json-object.ts'
import type { Db } from '../../platform/db/database.ts'
import type { ProjectInReach } from '../../platform/http/access.ts'
import { invalid } from '../../platform/http/errors.ts'
import type { Services } from '../../platform/services.ts'
import { changesBetween, recordActivity } from '../activity-log/record.ts'
import { assertHostsAllowed, changeConfig, destinationKey, getKind, readConfig } from './config.ts'
import { exportActivity, readRowChoice, type Change } from './create.ts'
import { assertNamesAreFree, isRenamed } from './file-names.ts'
import { lockExport, updateExport } from './queries.ts'
import { shownType, type ExportRow } from './rows.ts'
import { assertOffered, assertPauseBegun, assertSound, FIXED_ONCE_DELIVERED, offsetsFor } from './rules.ts'
import { hasCompletedRun } from './runs/queries.ts'
import { dueAfterChange, pauseExport, unpauseExport } from './schedule/actions.ts'
import { PLAIN_FIELDS, type ExportFields, type ExportReplace } from './schema.ts'
import { configWithSecrets, sealSecrets, splitConfig } from './secrets.ts'

/** An export and the project it belongs to. */
export type Addressed = { project: ProjectInReach; row: ExportRow }

const LOGGED_FIELDS = [...PLAIN_FIELDS, 'paused', 'config', 'hogql_query', 'filters'] as const
const SCHEDULE_FIELDS = ['interval', 'timezone', 'offset_day', 'offset_hour', 'start_at', 'end_at'] as const

/** PUT: what is required must be sent again and be complete; whatever is left out stays, secrets above all. */
export function replaceExport(
  change: Change,
  addressed: Addressed,
  fields: ExportReplace,
): Promise<ExportRow> {
  const { row } = addressed
  assertSameType(row, fields.destination.type)
  readConfig(getKind(row.destination_type), fields.destination.config)
  return changeExport(change, addressed, fields)
}

export async function changeExport(
  change: Change,
  { project, row }: Addressed,
  fields: ExportFields,
): Promise<ExportRow> {
  const { services, db, now } = change
  assertPauseBegun(fields.last_paused_at, now)
  await assertAllowed(services, row, fields)
  return db.transaction(async (tx) => {
    const before = await lockExport(tx, project.id, row.id)
    const switched = await switchPaused(tx, before, fields.paused, now)
    const columns = differing(switched, {
      ...plainColumns(switched, fields),
      ...readRowChoice(services, fields, project, now),
      ...destinationColumns(services, switched, fields.destination?.config),
    })
    const wanted = { ...switched, ...columns }
    if (isRenamed(switched, wanted)) await assertNamesAreFree(tx, project, wanted)
    const after = await store(tx, switched, columns, now)
    await recordUpdate(tx, change, project, before, after)
    return after
  })
}

/** What needs no lock: type and model stay, the installation offers it, and the gate lets its hosts through. */
async function assertAllowed(services: Services, row: ExportRow, fields: ExportFields): Promise<void> {
  const { destination, interval } = fields
  assertSameType(row, destination?.type)
  assertSameModel(row, fields.model)
  assertOffered(services.settings, {
    ...(destination ? { type: row.destination_type } : {}),
    ...(interval && interval !== row.interval ? { interval } : {}),
  })
  if (!destination?.config) return
  const kind = getKind(row.destination_type)
  // Should somebody else change the host meanwhile, theirs was asked for as well.
  const config = changeConfig(kind, configWithSecrets(services, row), destination.config)
  await assertHostsAllowed(services.outbound, kind, config)
}

function assertSameType(row: ExportRow, type: string | undefined): void {
  if (type === undefined || type === shownType(row)) return
  const detail = 'The type of a destination cannot change: make another export.'
  throw invalid('destination__type', 'invalid_input', detail)
}

/** Every row of the destination, and every entry of the ledger, is about the model that the export was made with. */
function assertSameModel(row: ExportRow, model: ExportFields['model']): void {
  if (model === undefined || model === row.model) return
  throw invalid('model', 'invalid_input', 'The model of an export cannot change: make another export.')
}

async function switchPaused(
  tx: Db,
  row: ExportRow,
  paused: boolean | undefined,
  now: Date,
): Promise<ExportRow> {
  if (paused === undefined) return row
  return paused ? pauseExport(tx, row, now) : unpauseExport(tx, row, now)
}

function plainColumns(row: ExportRow, fields: ExportFields): Partial<ExportRow> {
  const sent = Object.fromEntries(
    PLAIN_FIELDS.filter((field) => fields[field] !== undefined).map((field) => [field, fields[field]]),
  )
  return fields.interval === undefined ? sent : { ...offsetsFor(fields.interval, row), ...sent }
}

/** Sealed anew only when a secret has changed: sealing the same one twice gives two texts. */
function destinationColumns(
  services: Services,
  row: ExportRow,
  sent: JsonObject | undefined,
): Partial<ExportRow> {
  if (sent === undefined) return {}
  const kind = getKind(row.destination_type)
  const stored = configWithSecrets(services, row)
  const { config, secrets } = splitConfig(kind, changeConfig(kind, stored, sent))
  const columns = { config, destination_key: destinationKey(kind.type, config) }
  if (isDeepStrictEqual(secrets, splitConfig(kind, stored).secrets)) return columns
  return { ...columns, secrets: sealSecrets(services, row.id, secrets) }
}

async function store(tx: Db, row: ExportRow, columns: Partial<ExportRow>, now: Date): Promise<ExportRow> {
  if (Object.keys(columns).length === 0) return row
  const wanted = { ...row, ...columns }
  assertSound(wanted, getKind(row.destination_type))
  await assertTableFollows(tx, row, wanted)
  const isMoved = SCHEDULE_FIELDS.some((field) => field in columns)
  const due = isMoved ? { next_due_at: dueAfterChange(row, wanted, now) } : {}
  return updateExport(tx, row, { ...columns, ...due }, now)
}

async function assertTableFollows(tx: Db, before: ExportRow, after: ExportRow): Promise<void> {
  const fixed = FIXED_ONCE_DELIVERED[before.destination_type] ?? []
  const changed = fixed.find((key) => !isDeepStrictEqual(before.config[key], after.config[key]))
  if (changed === undefined || !(await hasCompletedRun(tx, before.project_id, before.id))) return
  const detail = 'This cannot change any more: the table was made with it.'
  throw invalid(`destination__${changed}`, 'invalid_input', detail)
}

function differing(row: ExportRow, wanted: Partial<ExportRow>): Partial<ExportRow> {
  const isNew = ([column, value]: [string, unknown]) =>
    !isDeepStrictEqual(row[column as keyof ExportRow], value)
  return Object.fromEntries(Object.entries(wanted).filter(isNew))
}

async function recordUpdate(
  tx: Db,
  change: Change,
  project: ProjectInReach,
  before: ExportRow,
  after: ExportRow,
): Promise<void> {
  const changes = changesBetween('BatchExport', before, after, LOGGED_FIELDS)
  if (before.secrets !== after.secrets) {
    changes.push({ type: 'BatchExport', action: 'changed', field: 'secrets', before: null, after: null })
  }
  if (changes.length === 0) return
  await recordActivity(tx, change, { ...exportActivity(project, after), activity: 'updated', changes })
}
