// A preview of an export, as the API gives it.
import { z } from 'zod'
import type { ColumnKind } from '../../../platform/event-store/export-rows.ts'
import { NextRun } from '../schedule/schema.ts'

const KINDS = ['text', 'json', 'integer', 'float', 'boolean', 'timestamp'] as const satisfies ColumnKind[]

const Fault = z.object({ code: z.string(), detail: z.string(), attr: z.string().nullable() })

const PARTS = ['columns', 'rows', 'files', 'ddl', 'next_runs'] as const
export type Part = (typeof PARTS)[number]

export const ExportPreview = z
  .object({
    columns: z
      .array(z.object({ name: z.string(), type: z.enum(KINDS) }))
      .nullable()
      .describe('In their order at the destination.'),
    rows: z
      .array(z.record(z.string(), z.unknown()))
      .nullable()
      .describe('Up to ten of the newest rows that would go out, newest first, as JSON lines have them.'),
    files: z
      .array(z.string())
      .nullable()
      .describe(
        'Names of the files of the next runs. `{export_id}` stands for the id that the export gets. Null where there are no files.',
      ),
    ddl: z
      .string()
      .nullable()
      .describe('The SQL that makes the table, if there is none. Null where there is no table.'),
    next_runs: z.array(NextRun).nullable().describe('As if the export were made now, and not paused.'),
    errors: z
      .partialRecord(z.enum(PARTS), Fault)
      .describe('Why a part is null. The others do not depend on it.'),
  })
  .meta({ id: 'BatchExportPreview' })
export type ExportPreview = z.input<typeof ExportPreview>
