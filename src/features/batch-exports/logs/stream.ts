// The log of an export as it is written, as a whole or of one run.
import { follow } from '../../../platform/http/live/follow.ts'
import { live } from '../../../platform/http/live/live-answer.ts'
import { openLog, type LineRange } from '../../../platform/http/live/log-tail.ts'
import type { RequestFacts } from '../../../platform/http/route.ts'
import type { Services } from '../../../platform/services.ts'
import type { LogRow } from '../rows.ts'
import { presentLog } from './present.ts'
import { findLastLine, readLines, type LogFilter, type LogPart } from './queries.ts'
import { LogEntry, type LogStreamQuery } from './schema.ts'

/** Streams with the same key get the same lines. */
export async function followLog(
  { db }: Services,
  part: LogPart,
  query: LogStreamQuery,
  request: RequestFacts,
) {
  const { search = null, level, level_filter } = query
  const filter: LogFilter = { after: null, before: null, search, levels: level ?? level_filter ?? null }
  const log = {
    last: () => findLastLine(db, part),
    read: (range: LineRange) => readLines(db, part, filter, range),
    present: (row: LogRow) => LogEntry.parse(presentLog(row)),
  }
  return { ...(await openLog(log, query, request)), key: JSON.stringify([part, filter]) }
}

export async function streamLog(
  services: Services,
  part: LogPart,
  query: LogStreamQuery,
  request: RequestFacts,
) {
  const { tail, key, after } = await followLog(services, part, query, request)
  return live(part.project_id, (connection) =>
    follow(services.looks, connection, `log ${key}`, () => tail, after),
  )
}
