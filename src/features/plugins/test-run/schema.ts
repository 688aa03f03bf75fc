// A trial of a plugin on one event.
import { z } from 'zod'
import { bool } from '../../../platform/http/fields.ts'

const json = z.record(z.string(), z.unknown())

export const TestRequest = z.object({
  event: json.describe('What it lacks, such as `uuid` and `timestamp`, is made up.'),
  config: json.optional().describe('Settings; those it lacks have their defaults.'),
  fetch: bool().optional().describe('Whether the code may call addresses outside.'),
})
export type TestRequest = z.output<typeof TestRequest>

export const TestResult = z
  .object({
    event: json.nullable().describe('As it would be stored; null when it was dropped.'),
    logs: z.array(z.object({ source: z.string(), type: z.string(), message: z.string() })),
    error: z.object({ name: z.string(), message: z.string(), stack: z.string() }).nullable(),
    ms: z.number().describe('How long it took, loading the code included.'),
  })
  .meta({ id: 'PluginTestResult' })
export type TestResult = z.input<typeof TestResult>
