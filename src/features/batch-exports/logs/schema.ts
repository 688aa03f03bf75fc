// Log lines as the API gives them, and what a list of them can be asked for.
import { z } from 'zod'
import { timestamp, uuid } from '../../../platform/http/fields.ts'
import { EndOfStream, LeftOut } from '../../../platform/http/live/messages.ts'
import { PositionQuery } from '../../../platform/http/live/position.ts'
import { PageQuery } from '../../../platform/http/paging.ts'
import { choicesParameter, textParameter } from '../../../platform/http/parameters.ts'
import type { LogLevel } from '../rows.ts'

const LEVELS = ['DEBUG', 'LOG', 'INFO', 'WARNING', 'ERROR'] as const satisfies readonly LogLevel[]

export const LogEntry = z
  .object({
    team_id: z.int(),
    batch_export_id: uuid,
    run_id: uuid.nullable().describe('Null for what concerns the export as a whole.'),
    timestamp,
    level: z.enum(LEVELS),
    message: z.string(),
  })
  .meta({ id: 'BatchExportLogEntry' })

export const LogQuery = PageQuery.extend({
  after: textParameter('Later than this: ISO 8601 or relative such as -24h.'),
  before: textParameter('Earlier than this.'),
  search: textParameter('A part of the message, whatever its case.'),
  level: choicesParameter(LEVELS, 'Only lines of these levels.'),
  level_filter: choicesParameter(LEVELS, 'The older name of `level`.'),
})
export type LogQuery = z.output<typeof LogQuery>

export const LogStreamQuery = LogQuery.pick({ search: true, level: true, level_filter: true }).extend(
  PositionQuery.shape,
)
export type LogStreamQuery = z.output<typeof LogStreamQuery>

/** By the names of the messages. */
export const LOG_MESSAGES = { log: LogEntry, gap: LeftOut, end: EndOfStream }
