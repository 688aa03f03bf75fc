// The log of an export as it is written, as a whole or of one run.
import { follow } from '../../../platform/http/live/follow.ts'
import { live } from '../../../platform/http/live/live-answer.ts'
import { LogTail, type LineRange } from '../../../platform/http/live/log-tail.ts'
import { readPosition } from '../../../platform/http/live/position.ts'
import type { RequestFacts } from '../../../platform/http/route.ts'
import type { Services } from '../../../platform/services.ts'
import type { LogRow } from '../rows.ts'
import { presentLog } from './present.ts'
import { findLastLine, readLines, type LogFilter, type LogPart } from './queries.ts'
import { LogEntry, type LogStreamQuery } from './schema.ts'

export type FollowedPart = {
  tail: LogTail<LogRow>
  /** Streams with the same one get the same lines. */
  key: string
  /** Where the client wants to go on; null: from now on. */
  after: number | null
}

export async function followLog(
  { db }: Services,
  part: LogPart,
  query: LogStreamQuery,
  { headers }: RequestFacts,
): Promise<FollowedPart> {
  const filter: LogFilter = {
    after: null,
    before: null,
    search: query.search ?? null,
    levels: query.level ?? query.level_filter ?? null,
  }
  const after = readPosition(query, headers)
  const last = await findLastLine(db)
  const log = {
    read: (range: LineRange) => readLines(db, part, filter, range),
    present: (row: LogRow) => LogEntry.parse(presentLog(row)),
  }
  return {
    tail: new LogTail(log, last),
    key: JSON.stringify([part, filter]),
    after: after === null ? null : Math.min(after, last),
  }
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
