// What a schedule does next, as the API gives it.
import { z } from 'zod'
import { timestamp } from '../../../platform/http/fields.ts'

const times = { start: timestamp, end: timestamp, due: timestamp.describe('When the run begins.') }

export const NextRun = z
  .object({
    ...times,
    local: z.object(times).describe("The same instants as the clocks of the export's zone show them."),
  })
  .meta({ id: 'BatchExportNextRun' })
export type NextRun = z.input<typeof NextRun>

export const NextRuns = z.object({
  timezone: z.string(),
  results: z
    .array(NextRun)
    .describe('The next five, soonest first; fewer before the end, none when it is paused or over.'),
})
