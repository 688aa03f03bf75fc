// Plugins, in and out. What their fields of settings look like is config-schema.ts's matter.
import { z } from 'zod'
import { isObject } from '../../lib/json-object.ts'
import { bool, text, uuid } from '../../platform/http/fields.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { PLUGIN_TYPES } from './rows.ts'

const json = z.unknown()

export const SourceError = z
  .object({
    file: z.string(),
    line: z.int().nullable().describe('From 1 on; null where the place is not known.'),
    column: z.int().nullable(),
    message: z.string(),
  })
  .meta({ id: 'SourceError' })

export const Plugin = z
  .object({
    id: z.int(),
    plugin_type: z.enum(PLUGIN_TYPES),
    name: z.string().nullable(),
    description: z.string().nullable(),
    url: z.string().nullable(),
    icon: z.string().nullable(),
    config_schema: json.describe('The settings it asks for: a list of fields, or an object of them by key.'),
    tag: z.string().nullable().describe('The installed version.'),
    latest_tag: z.string().nullable().describe('The newest version that is known.'),
    is_global: z.boolean().describe('Offered to every organization of this server.'),
    organization_id: uuid.nullable(),
    organization_name: z.string(),
    capabilities: json.describe('What its code offers: methods, jobs, scheduled_tasks. Empty without code.'),
    metrics: json,
    public_jobs: json,
    errors: z
      .array(SourceError)
      .describe(
        'What keeps its files from running, as they were saved last: code does not load, or exports nothing that is called.',
      ),
  })
  .meta({ id: 'Plugin' })

// Not for sale: code of the server's own cannot be made by a call.
const CREATABLE_TYPES = PLUGIN_TYPES.filter((type) => type !== 'inline')

const fields = z.object({
  plugin_type: z.enum(CREATABLE_TYPES).nullable(),
  name: text({ max: 200 }).nullable(),
  description: z.string().trim().nullable(),
  icon: text({ max: 800, blank: true }).nullable(),
  config_schema: json.refine((value) => value !== null),
  tag: text({ max: 200, blank: true }).nullable(),
  is_global: bool(),
  capabilities: json.refine(isCapabilities, 'An object of lists of names is expected here.'),
  metrics: json.refine(isObjectOrNull, 'An object is expected here.'),
  public_jobs: json.refine(isObjectOrNull, 'An object is expected here.'),
})

export const PluginUpdate = fields.partial()
export type PluginFields = z.output<typeof PluginUpdate>

export const PluginCreate = PluginUpdate.extend({
  url: text({ max: 800, blank: true })
    .nullable()
    .optional()
    .describe('Where its code is: on GitHub, GitLab, npm, or in a folder of the server (file:).'),
})
export type PluginCreate = z.output<typeof PluginCreate>

/** Names with a dot are files: text to write, null to delete. The others are fields of the plugin. */
export const SourceUpdate = PluginUpdate.catchall(json)
export type SourceUpdate = z.output<typeof SourceUpdate>

/** Beside the fields, or alone, the text of each file by its name; no field has a dot in its name, every file has. */
export const PluginWithFiles = z.union([Plugin.catchall(json), z.record(z.string(), z.string())])
export const CheckedPlugin = z.union([Plugin.extend({ plugin: Plugin }), z.object({ plugin: Plugin })])

/** What PostHog gives as a bare list, here as a page or, when asked for, as that list. */
export function listOrPage<Item extends z.ZodType>(item: Item) {
  return z.union([paged(item), z.array(item)])
}

export const UnusedPlugins = z.union([paged(Plugin), z.array(z.int())])

export const OfferedPlugin = Plugin.extend({
  id: z.int().nullable().describe('Null until it is installed.'),
  organization_name: z.string().nullable(),
  verified: z.boolean(),
  maintainer: z.enum(['official', 'community']),
  type: z.string().nullable(),
}).meta({ id: 'OfferedPlugin' })

export const FormatQuery = z.object({
  format: z.string().optional().describe("`posthog` for the bare forms of PostHog's own answers."),
})
export const FormattedPageQuery = PageQuery.extend(FormatQuery.shape)

export function isPostHogFormat({ format }: { format?: string | undefined }): boolean {
  return format === 'posthog'
}

function isCapabilities(value: unknown): boolean {
  if (!isObject(value)) return false
  return ['methods', 'scheduled_tasks', 'jobs'].every(
    (list) => !Object.hasOwn(value, list) || isListOfNames(value[list]),
  )
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}

function isObjectOrNull(value: unknown): boolean {
  return value === null || isObject(value)
}
