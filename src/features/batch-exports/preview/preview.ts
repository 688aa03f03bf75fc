// What an export would do if it were made now: by the steps that make one and that carry its runs out, without storing
// anything and without a connection to the destination.
import type { JsonObject } from '../../../lib/json-object.ts'
import type { ProjectInReach } from '../../../platform/http/access.ts'
import { invalid } from '../../../platform/http/errors.ts'
import type { Services } from '../../../platform/services.ts'
import { findKind, getKind, readConfig } from '../config.ts'
import { readRowChoice } from '../create.ts'
import { definitionOf } from '../defined.ts'
import type { Bounds } from '../definition.ts'
import type { DestinationKind } from '../destinations/destination.ts'
import { assertOffered, assertSoundRows, assertSoundTimes } from '../rules.ts'
import { firstDueAt } from '../schedule/grid.ts'
import { nextRuns, presentNextRun } from '../schedule/next-runs.ts'
import type { ExportPreviewRequest } from '../schema.ts'
import { splitConfig } from '../secrets.ts'
import { selectRows, type SelectedRows } from '../source/select.ts'
import { attempt, valueOf, type Outcome } from './parts.ts'
import { boundsOf, sampleRows } from './sample.ts'
import type { ExportPreview, Part } from './schema.ts'

/** Nobody knows the id before the export is made. */
const EXPORT_ID = '{export_id}'

export async function previewExport(
  services: Services,
  project: ProjectInReach,
  body: ExportPreviewRequest,
  now: Date,
): Promise<ExportPreview> {
  const { model = 'events' } = body
  const schedule = await attempt(() => scheduleOf(services, body, now))
  const destination = await attempt(() => destinationOf(services, body))
  const select = await attempt(() => selectorOf(services, project, body, valueOf(destination), now))
  // Some columns tell when their run was: here the one that comes.
  const end = ('value' in schedule ? schedule.value.runs[0]?.interval.end : null) ?? now
  const columns = await attempt(() => valueOf(select)(boundsOf(0, 0, { start: null, end })).columns)
  const rows = await attempt(() => {
    // A column that cannot be is told once, and nothing is asked of the store for it.
    valueOf(columns)
    return sampleRows(services.eventStore, project.id, { model, select: valueOf(select), end }, now)
  })
  const { fileNames, tableSql } = (await findKind(body.destination?.type ?? '')?.load()) ?? {}
  const files = await attempt(() => {
    const { config } = valueOf(destination)
    return valueOf(schedule).runs.flatMap(
      ({ interval }) =>
        fileNames?.(config, { interval, model, batch_export_id: EXPORT_ID, backfill_id: null }) ?? [],
    )
  })
  const ddl = await attempt(() => {
    const { config } = valueOf(destination)
    const run = { model, has_custom_columns: (body.hogql_query ?? null) !== null }
    return tableSql?.(config, run, valueOf(columns)) ?? ''
  })
  return answer({
    columns: await mapped(columns, (found) => found.map(({ name, kind }) => ({ name, type: kind }))),
    rows,
    files: fileNames ? files : null,
    ddl: tableSql ? ddl : null,
    next_runs: await mapped(schedule, ({ runs, timezone }) =>
      runs.map((run) => presentNextRun(run, timezone)),
    ),
  })
}

function scheduleOf({ settings }: Services, body: ExportPreviewRequest, now: Date) {
  const { interval, timezone = 'UTC', offset_day = null, offset_hour = null } = body
  if (interval === undefined) throw invalid('interval', 'required', 'This field is missing.')
  assertOffered(settings, { interval })
  const { start_at = null, end_at = null } = body
  const schedule = { interval, timezone, offset_day, offset_hour, start_at, end_at }
  assertSoundTimes(schedule)
  const next_due_at = firstDueAt(schedule, now)
  return { timezone, runs: nextRuns({ ...schedule, next_due_at, paused: false }, null) }
}

type Chosen = { kind: DestinationKind; alias: string | null; config: JsonObject }

function destinationOf({ settings }: Services, { destination }: ExportPreviewRequest): Chosen {
  if (destination === undefined) throw invalid('destination', 'required', 'This field is missing.')
  const kind = getKind(destination.type)
  assertOffered(settings, { type: kind.type })
  const config = readConfig(kind, withoutSecretsNeeded(kind, destination.config))
  const alias = destination.type === kind.type ? null : destination.type
  return { kind, alias, config: splitConfig(kind, config).config }
}

/** Nothing is signed in to, so any secret will do; those of the example are well formed. */
function withoutSecretsNeeded(kind: DestinationKind, sent: JsonObject): JsonObject {
  const made_up = kind.secrets.map((name) => [name, kind.example[name] ?? '…'] as const)
  return { ...sent, ...Object.fromEntries(made_up) }
}

function selectorOf(
  services: Services,
  project: ProjectInReach,
  body: ExportPreviewRequest,
  { kind, alias, config }: Chosen,
  now: Date,
): (bounds: Bounds) => SelectedRows {
  const row = {
    model: body.model ?? 'events',
    destination_type: kind.type,
    destination_alias: alias,
    config,
    hogql_query: null,
    schema: null,
    filters: null,
    ...readRowChoice(services, body, project, now),
  }
  assertSoundRows(row, kind)
  const definition = definitionOf(row, project)
  const { engine } = services.eventStore
  return (bounds) => selectRows({ ...project, engine }, definition, kind.columns, bounds, now)
}

function mapped<From, To>(outcome: Outcome<From>, map: (value: From) => To): Promise<Outcome<To>> {
  return attempt(() => map(valueOf(outcome)))
}

type Outcomes = { [P in Part]: Outcome<NonNullable<ExportPreview[P]>> | null }

function answer(outcomes: Outcomes): ExportPreview {
  const shown = <Value>(outcome: Outcome<Value> | null): Value | null =>
    outcome && 'value' in outcome ? outcome.value : null
  const errors: ExportPreview['errors'] = {}
  for (const [part, outcome] of Object.entries(outcomes) as [Part, Outcome<unknown> | null][]) {
    if (!outcome || 'value' in outcome) continue
    const { code, detail, attr } = outcome.error
    errors[part] = { code, detail, attr }
  }
  return {
    columns: shown(outcomes.columns),
    rows: shown(outcomes.rows),
    files: shown(outcomes.files),
    ddl: shown(outcomes.ddl),
    next_runs: shown(outcomes.next_runs),
    errors,
  }
}
