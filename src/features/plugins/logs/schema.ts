// Log lines as the API gives them, and what a list of them can be asked for.
import { z } from 'zod'
import { timestamp, uuid } from '../../../platform/http/fields.ts'
import { EndOfStream, LeftOut } from '../../../platform/http/live/messages.ts'
import { PositionQuery } from '../../../platform/http/live/position.ts'
import { PageQuery } from '../../../platform/http/paging.ts'
import { choicesParameter, textParameter } from '../../../platform/http/parameters.ts'
import type { LogType } from '../../../platform/sandbox/sandbox.ts'

const TYPES = ['DEBUG', 'LOG', 'INFO', 'WARN', 'ERROR'] as const satisfies readonly LogType[]

export const PluginLogEntry = z
  .object({
    id: z.int(),
    team_id: z.int(),
    plugin_id: z.int(),
    plugin_config_id: z.int(),
    timestamp,
    source: z
      .enum(['SYSTEM', 'PLUGIN', 'CONSOLE'])
      .describe('CONSOLE is what the app says itself, SYSTEM the server.'),
    type: z.enum(TYPES),
    message: z.string(),
    instance_id: uuid.describe('Of the process that wrote it.'),
  })
  .meta({ id: 'PluginLogEntry' })

const WHOLE_NUMBER = /^\s*\d+\s*$/

export const PluginLogQuery = PageQuery.extend({
  limit: textParameter('Lines per page: 100 unless told, 1000 at most.')
    .refine((text) => text === undefined || WHOLE_NUMBER.test(text), 'This is not a whole number.')
    .meta({ type: 'integer' }),
  after: textParameter('Later than this: ISO 8601 or relative such as -24h.'),
  before: textParameter('Earlier than this.'),
  search: textParameter('A part of the message, whatever its case.'),
  type_filter: choicesParameter(TYPES, 'Only lines of these types.'),
})
export type PluginLogQuery = z.output<typeof PluginLogQuery>

export const PluginLogStreamQuery = PluginLogQuery.pick({ search: true, type_filter: true }).extend(
  PositionQuery.shape,
)
export type PluginLogStreamQuery = z.output<typeof PluginLogStreamQuery>

/** By the names of the messages. */
export const PLUGIN_LOG_MESSAGES = { log: PluginLogEntry, gap: LeftOut, end: EndOfStream }
