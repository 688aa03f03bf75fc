// The log of a plugin config as it is written.
import { follow } from '../../../platform/http/live/follow.ts'
import { live } from '../../../platform/http/live/live-answer.ts'
import { LogTail, type LineRange } from '../../../platform/http/live/log-tail.ts'
import { readPosition } from '../../../platform/http/live/position.ts'
import type { RequestFacts } from '../../../platform/http/route.ts'
import type { Services } from '../../../platform/services.ts'
import { presentLog } from './present.ts'
import { findLastLine, readLines, type LogFilter, type LogOwner, type PluginLogRow } from './queries.ts'
import { PluginLogEntry, type PluginLogStreamQuery } from './schema.ts'

export async function streamLog(
  { db, looks }: Services,
  owner: LogOwner,
  query: PluginLogStreamQuery,
  { headers }: RequestFacts,
) {
  const { search = null, type_filter: types } = query
  const filter: LogFilter = { after: null, before: null, search, types: types ?? null }
  const after = readPosition(query, headers)
  const last = await findLastLine(db)
  const log = {
    read: (range: LineRange) => readLines(db, owner, filter, range),
    present: (row: PluginLogRow) => PluginLogEntry.parse(presentLog(row)),
  }
  const key = `plugin log ${JSON.stringify([owner, filter])}`
  return live(owner.project_id, (connection) =>
    follow(
      looks,
      connection,
      key,
      () => new LogTail(log, last),
      after === null ? null : Math.min(after, last),
    ),
  )
}
