// Batch exports, in and out. What a destination's configuration holds is its kind's matter (destinations/).
import { z } from 'zod'
import { bool, instant, int, text, timestamp, uuid } from '../../platform/http/fields.ts'
import { ProjectUpdate } from '../projects/schema.ts'
import { INTERVALS, MODELS } from './definition.ts'
import { Freshness } from './freshness/schema.ts'
import { Run } from './runs/schema.ts'

const json = z.record(z.string(), z.unknown())

const Schema = z.object({
  fields: z.array(z.object({ expression: z.string(), alias: z.string() })),
  values: json,
  hogql_query: z.string(),
})

export const BatchExport = z
  .object({
    id: uuid,
    team_id: z.int(),
    name: z.string(),
    destination: z.object({
      type: z.string(),
      config: json.describe('Without secrets: those are never given out.'),
      integration: z.null(),
    }),
    model: z.enum(MODELS),
    interval: z.enum(INTERVALS),
    timezone: z.string(),
    offset_day: z.int().nullable(),
    offset_hour: z.int().nullable(),
    paused: z.boolean(),
    created_at: timestamp,
    last_updated_at: timestamp,
    last_paused_at: timestamp.nullable(),
    start_at: timestamp.nullable(),
    end_at: timestamp.nullable(),
    latest_runs: z.array(Run).describe('The ten newest, newest first.'),
    hogql_query: z.string().nullable().describe('As it was sent.'),
    schema: Schema.nullable().describe('The columns, and the query in its normal form.'),
    filters: z.array(z.unknown()).nullable(),
    freshness: Freshness.optional().describe('In lists, and where one export is read.'),
  })
  .meta({ id: 'BatchExport' })

export const BatchExportWithBackfill = BatchExport.extend({
  backfill_id: uuid.optional().describe('The backfill that was started.'),
}).meta({ id: 'BatchExportWithBackfill' })

const fields = z.object({
  name: text({ max: 400 }),
  destination: z.object({ type: z.string(), config: json }),
  interval: z.enum(INTERVALS),
  model: z
    .enum(MODELS)
    .nullable()
    .transform((model) => model ?? 'events'),
  paused: bool(),
  last_paused_at: instant().nullable(),
  start_at: instant().nullable().describe('No run is due before it.'),
  end_at: instant().nullable().describe('No run is due after it.'),
  hogql_query: z.string().nullable().describe('Chooses the columns; null for those of the destination.'),
  filters: z.unknown().describe('A list of property filters, all of which hold; null for none.'),
  timezone: ProjectUpdate.shape.timezone
    .unwrap()
    .nullable()
    .transform((timezone) => timezone ?? 'UTC'),
  offset_day: int({ min: 0, max: 6 }).nullable().describe('Of weekly exports: 0 is Sunday.'),
  offset_hour: int({ min: 0, max: 23 }).nullable().describe('Of daily and weekly exports.'),
})

const inProject = z
  .unknown()
  .optional()
  .meta({ type: 'integer', description: "Below an organization's path: the project it is for." })

export const ExportReplace = fields.partial().required({ name: true, destination: true, interval: true })
export type ExportReplace = z.output<typeof ExportReplace>

export const ExportCreate = ExportReplace.extend({ team_id: inProject, project_id: inProject })
export type ExportCreate = z.output<typeof ExportCreate>

export const ExportUpdate = fields.extend({ destination: fields.shape.destination.partial() }).partial()
export type ExportFields = z.output<typeof ExportUpdate>

/** The fields that say when an export runs, and over what: stored as they come. */
export const PLAIN_FIELDS = [
  'name',
  'model',
  'interval',
  'timezone',
  'offset_day',
  'offset_hour',
  'last_paused_at',
  'start_at',
  'end_at',
] as const satisfies (keyof ExportFields)[]

/** What creates an export, as far as it is filled in. */
export const ExportPreviewRequest = fields.partial()
export type ExportPreviewRequest = z.output<typeof ExportPreviewRequest>

export const UnpauseRequest = z.object({
  backfill: bool().optional().describe('Also export what was missed while paused.'),
})

/** What makes a range is the backfill's matter. */
export const BackfillRequest = z.object({
  start_at: z
    .unknown()
    .optional()
    .meta({ type: ['string', 'null'], format: 'date-time' }),
  end_at: z
    .unknown()
    .optional()
    .meta({ type: ['string', 'null'], format: 'date-time' }),
})
