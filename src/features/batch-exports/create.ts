// A new export: checked as a whole, then stored with its first due time and an entry in the activity log. The scheduler
// finds it in the table, so there is nothing else to set up.
import { uuid7 } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import type { ProjectInReach } from '../../platform/http/access.ts'
import type { Services } from '../../platform/services.ts'
import { recordActivity, type Activity, type Actor } from '../activity-log/record.ts'
import { lockProject } from '../projects/queries.ts'
import { assertHostsAllowed, getKind, readConfig } from './config.ts'
import { assertNamesAreFree } from './file-names.ts'
import { countExports, insertExport, type NewExport } from './queries.ts'
import type { ExportRow } from './rows.ts'
import { assertOffered, assertPauseBegun, assertRoom, assertSound } from './rules.ts'
import { firstDueAt } from './schedule/grid.ts'
import type { ExportCreate, ExportFields } from './schema.ts'
import { sealSecrets, splitConfig } from './secrets.ts'
import { readCustomQuery } from './source/custom-query.ts'
import { readFilters } from './source/filters.ts'

/** The part of a request's context that changes of exports need. */
export type Change = Actor & { services: Services; db: Db }

export async function createExport(
  change: Change,
  project: ProjectInReach,
  body: ExportCreate,
): Promise<ExportRow> {
  const { services, db } = change
  const kind = getKind(body.destination.type)
  assertOffered(services.settings, { type: kind.type, interval: body.interval })
  const config = readConfig(kind, body.destination.config)
  const parts = splitConfig(kind, config)
  const row = newRow(change, project, body, parts.config, (id) => sealSecrets(services, id, parts.secrets))
  assertSound(row, kind)
  assertPauseBegun(body.last_paused_at, change.now)
  // Before the transaction: no connection should be held while a name server thinks.
  await assertHostsAllowed(services.outbound, kind, config)
  return db.transaction(async (tx) => {
    // Two at once must not both be the hundredth.
    await lockProject(tx, project.organization_id, project.id)
    assertRoom(await countExports(tx, { project_id: project.id }))
    await assertNamesAreFree(tx, project, row)
    const inserted = await insertExport(tx, row)
    await recordActivity(tx, change, { ...exportActivity(project, inserted), activity: 'created' })
    return inserted
  })
}

function newRow(
  { caller, now, services }: Change,
  project: ProjectInReach,
  body: ExportCreate,
  config: ExportRow['config'],
  sealFor: (id: string) => string,
): NewExport {
  const id = uuid7(now)
  const paused = body.paused ?? false
  const schedule = {
    interval: body.interval,
    timezone: body.timezone ?? 'UTC',
    offset_day: body.offset_day ?? null,
    offset_hour: body.offset_hour ?? null,
    start_at: body.start_at ?? null,
  }
  return {
    id,
    project_id: project.id,
    name: body.name,
    model: body.model ?? 'events',
    ...typeColumns(body.destination.type),
    config,
    secrets: sealFor(id),
    ...schedule,
    paused,
    last_paused_at: body.last_paused_at ?? (paused ? now : null),
    end_at: body.end_at ?? null,
    hogql_query: null,
    schema: null,
    filters: null,
    ...readRowChoice(services, body, project, now),
    next_due_at: firstDueAt(schedule, now),
    created_by: caller?.user?.id ?? null,
    created_at: now,
    last_updated_at: now,
  }
}

function typeColumns(given: string): Pick<ExportRow, 'destination_type' | 'destination_alias'> {
  const { type } = getKind(given)
  return { destination_type: type, destination_alias: given === type ? null : given }
}

type RowChoice = Partial<Pick<ExportRow, 'hogql_query' | 'schema' | 'filters'>>

/** Which columns and which rows, as far as the body speaks of them. Null for a query: the destination's own columns. */
export function readRowChoice(
  { eventStore: { engine } }: Pick<Services, 'eventStore'>,
  { hogql_query, filters }: Pick<ExportFields, 'hogql_query' | 'filters'>,
  project: ProjectInReach,
  now: Date,
): RowChoice {
  const none = { hogql_query: null, schema: null }
  return {
    ...(hogql_query === undefined
      ? {}
      : hogql_query === null
        ? none
        : readCustomQuery(hogql_query, { ...project, engine }, now)),
    ...(filters === undefined ? {} : { filters: readFilters(filters, engine) }),
  }
}

export function exportActivity(
  project: Pick<ProjectInReach, 'id' | 'organization_id'>,
  { id, name }: Pick<ExportRow, 'id' | 'name'>,
): Omit<Activity, 'activity'> {
  return {
    organization_id: project.organization_id,
    project_id: project.id,
    scope: 'BatchExport',
    item_id: id,
    name,
  }
}
