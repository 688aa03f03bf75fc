// A trial of a plugin: on one event, or by one of its jobs or schedules.
import { z } from 'zod'
import { bool, int } from '../../../platform/http/fields.ts'
import { SourceError } from '../schema.ts'

const json = z.record(z.string(), z.unknown())

export const TestRequest = z.object({
  event: json
    .optional()
    .describe(
      'As capture takes it, and refused where capture refuses it. What it lacks, such as `uuid` and `timestamp`, is made up. Required without `job` and `schedule`.',
    ),
  job: z
    .object({ type: z.string().min(1).max(200), payload: json.optional() })
    .optional()
    .describe('A job to run in place of an event: its name, and what it is given.'),
  schedule: z
    .enum(['runEveryMinute', 'runEveryHour', 'runEveryDay'])
    .optional()
    .describe('A function to run, in place of an event, as the clock would.'),
  config: json.optional().describe('Settings; those it lacks have their defaults.'),
  plugin_config: int()
    .optional()
    .describe(
      'A config of this plugin, whose settings are used. Its secrets are left out when `files` or `config` are sent, and for plugins of other organizations.',
    ),
  files: z
    .record(z.string(), z.string())
    .optional()
    .describe('Files to be tried in place of those that are saved, by name.'),
  fetch: bool().optional().describe('Whether the code may call addresses outside.'),
})
export type TestRequest = z.output<typeof TestRequest>

export const CALL_KINDS = ['fetch', 'webhook', 'capture', 'job', 'metric', 'database', 'api'] as const

const TestCall = z
  .object({
    kind: z.enum(CALL_KINDS),
    target: z.string().describe('Method and address, or the name of the event, job or metric.'),
    detail: json,
    was_made: z.boolean().describe('Only calls of addresses are made, and only with `fetch`.'),
  })
  .meta({ id: 'PluginTestCall' })
export type TestCall = z.input<typeof TestCall>

export const TestResult = z
  .object({
    event: json.nullable().describe('As it would be stored; null when it was dropped, or none was sent.'),
    logs: z.array(z.object({ source: z.string(), type: z.string(), message: z.string() })),
    error: z.object({ name: z.string(), message: z.string(), stack: z.string() }).nullable(),
    errors: z.array(SourceError).describe('What keeps the files from running.'),
    calls: z.array(TestCall).describe('What it did, or would have done, outside: the first 1,000.'),
    memory_bytes: z.int().nullable().describe('What it holds afterwards; null where that is not known.'),
    ms: z.number().describe('How long it took, loading the code included.'),
  })
  .meta({ id: 'PluginTestResult' })
export type TestResult = z.input<typeof TestResult>
