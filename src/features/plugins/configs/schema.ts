// Configs, in and out. Forms send settings as JSON text, and files beside them; attachments.ts reads those.
import { z } from 'zod'
import { assertHarmless, parseJsonText } from '../../../platform/http/body.ts'
import { bool, int, text, timestamp } from '../../../platform/http/fields.ts'
import { FAMILIES } from '../families.ts'
import { ON_FAILURE } from '../rows.ts'
import { Plugin } from '../schema.ts'

const json = z.record(z.string(), z.unknown())

export const PluginConfig = z
  .object({
    id: z.int(),
    plugin: z.int(),
    enabled: z.boolean(),
    order: z.int(),
    config: json.describe('The settings. Of secrets it only shows that there is one.'),
    name: z.string().nullable().describe("The plugin's where it has none of its own."),
    description: z.string().nullable(),
    deleted: z.boolean(),
    team_id: z.int(),
    plugin_info: Plugin.nullable().describe('Null in lists.'),
    is_plugin_used_beyond: z
      .boolean()
      .nullable()
      .describe(
        'Whether a project that you have no access to has the plugin set up as well: then you can neither change nor remove the plugin itself. Null in lists.',
      ),
    error: z
      .object({ message: z.string(), time: timestamp })
      .nullable()
      .describe('The fault that keeps it from running.'),
    version: z
      .string()
      .nullable()
      .describe(
        "What the project has accepted of another organization's plugin, by its hash. Null: it runs the plugin as it is.",
      ),
    latest_version: z
      .string()
      .nullable()
      .describe('The newest version. It runs once it is accepted: send it as `version`.'),
    on_failure: z
      .enum(ON_FAILURE)
      .describe(
        'What becomes of an event when the app cannot run on it: stored without it, held until it can, or dropped.',
      ),
    held_events: z.int().describe('Events that wait for the app.'),
    families: z
      .array(z.enum(FAMILIES))
      .describe('The families its plugin is in, `plugins` left out. Empty while its code says nothing.'),
    events_per_minute: z
      .number()
      .describe('Events that it was called for, on average since the hour before this one began.'),
    failures_24h: z.int().describe('Calls that failed.'),
    delivery_rate_24h: z.number().nullable().describe('The share of calls that went well.'),
    created_at: timestamp,
    updated_at: timestamp,
    filters: json.nullable().describe('Which events a destination gets; null for all.'),
    site_url: z
      .string()
      .nullable()
      .describe('Where web pages load its code from; shown to admins, and not in lists.'),
  })
  .meta({ id: 'PluginConfig' })

const fields = z.object({
  enabled: bool(),
  order: int(),
  config: z
    .preprocess(parsedFor('config'), json)
    .describe('Secrets that are left out, null or sent as they are shown stay; an empty text clears one.'),
  name: textOrNone(400),
  description: textOrNone(1000),
  on_failure: z
    .enum(ON_FAILURE)
    .nullable()
    .describe(
      'Null for the default: `hold` for apps that drop events or remove properties, `pass` for others.',
    ),
  filters: z.preprocess(parsedFor('filters'), z.unknown()).meta({
    type: ['object', 'null'],
    description: '`{"events": [{"id": "<name of the event>", "properties": [<property filters>]}]}`',
  }),
})

// What else a form may bring has names made from keys: `add_attachment[<key>]` for a file, `remove_attachment[<key>]`.

export const ConfigCreate = fields.partial().extend({ plugin: int() }).loose()
export type ConfigCreate = z.output<typeof ConfigCreate>

export const ConfigUpdate = fields
  .extend({
    deleted: bool(),
    version: text({ max: 64 }).nullable().describe('`latest_version`, to accept that.'),
  })
  .partial()
  .loose()
export type ConfigUpdate = z.output<typeof ConfigUpdate>

export const Rearrangement = z.object({
  orders: z.preprocess(parsedFor('orders'), z.record(z.string(), int())).describe('New orders by id.'),
})

/** What makes a job is start-job.ts's matter: it answers in other codes. */
export const JobRequest = z.object({
  job: z
    .unknown()
    .optional()
    .meta({ type: 'object', description: '`{"type": "<name>", "payload": {…}, "operation": "start"}`' }),
})

function textOrNone(max: number) {
  return text({ max, blank: true })
    .nullable()
    .transform((value) => value ?? '')
}

/** Text that is no JSON stays text, which is refused for what it is. */
function parsedFor(field: string): (value: unknown) => unknown {
  return (value) => {
    if (typeof value !== 'string') return value
    try {
      const parsed = parseJsonText(value)
      assertHarmless(parsed, [field])
      return parsed
    } catch (error) {
      if (error instanceof SyntaxError) return value
      throw error
    }
  }
}
