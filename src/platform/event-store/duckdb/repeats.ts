// Events that are there already: sent again by a client that had no answer, or twice in one batch.
import { BIGINT, DuckDBListValue, LIST, UUID, type DuckDBConnection } from '@duckdb/node-api'
import { tablesOf } from '../layout.ts'
import { uuidValue } from './append.ts'
import type { EventColumns } from './columns.ts'
import { rows } from './statements.ts'

const DAY = 86_400_000_000n

/** Indexes of the events that the project has neither in its table nor earlier in the batch, a day around. */
export async function withoutRepeats(
  connection: DuckDBConnection,
  project_id: number,
  events: EventColumns,
): Promise<number[]> {
  const { uuid, timestamp } = events
  if (uuid.length === 0) return []
  let [first, last] = [timestamp[0]!, timestamp[0]!]
  for (const time of timestamp) {
    if (time < first) first = time
    if (time > last) last = time
  }
  const { events: table } = tablesOf(project_id)
  const stored = await rows(
    connection,
    `SELECT uuid::VARCHAR, epoch_us(timestamp) FROM ${table}
       WHERE timestamp BETWEEN make_timestamp($1) AND make_timestamp($2) AND uuid IN (SELECT unnest($3))`,
    [first - DAY, last + DAY, new DuckDBListValue(uuid.map(uuidValue))],
    [BIGINT, BIGINT, LIST(UUID)],
  )
  const times = new Map<string, bigint[]>()
  const remember = (id: string, time: bigint) => {
    const known = times.get(id)
    if (known) known.push(time)
    else times.set(id, [time])
  }
  for (const [id, time] of stored) remember(id as string, time as bigint)
  return [...uuid.keys()].filter((at) => {
    const time = timestamp[at]!
    const isKnown = times.get(uuid[at]!)?.some((other) => (time > other ? time - other : other - time) <= DAY)
    if (!isKnown) remember(uuid[at]!, time)
    return !isKnown
  })
}
