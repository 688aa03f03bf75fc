// Small questions of the store to itself.
import { BIGINT, DuckDBListValue, LIST, UUID, type DuckDBConnection } from '@duckdb/node-api'
import { tablesOf } from '../layout.ts'
import type { StoredIds, Suspect } from './journal/repeats.ts'
import { uuidValue } from './segments/events.ts'
import { rows } from './statements.ts'

const DAY = 86_400_000_000n

/** The events of one project that it has a day around: of an id that many events have, only those of the same days. */
export async function findStored(
  connection: DuckDBConnection,
  project_id: number,
  suspects: readonly Suspect[],
): Promise<StoredIds> {
  const times = suspects.map(({ time }) => time).sort((one, other) => (one < other ? -1 : 1))
  const near = suspects.flatMap(({ uuid, time }) =>
    [-1n, 0n, 1n].map((days) => [uuid, dayOf(time) + days] as const),
  )
  const found = await rows(
    connection,
    `SELECT uuid::VARCHAR, epoch_us(timestamp) FROM ${tablesOf(project_id).events}
       WHERE timestamp BETWEEN make_timestamp($1) AND make_timestamp($2) AND uuid IN (SELECT unnest($3))
         AND (uuid, timestamp::DATE - DATE '1970-01-01') IN (SELECT unnest($4), unnest($5))`,
    [
      times[0]! - DAY,
      times.at(-1)! + DAY,
      new DuckDBListValue(suspects.map(({ uuid }) => uuidValue(uuid))),
      new DuckDBListValue(near.map(([uuid]) => uuidValue(uuid))),
      new DuckDBListValue(near.map(([, day]) => day)),
    ],
    [BIGINT, BIGINT, LIST(UUID), LIST(UUID), LIST(BIGINT)],
  )
  return found.map(([uuid, time]) => ({ project_id, uuid: uuid as string, time: time as bigint }))
}

/** Since 1970, rounded down as dates are. */
const dayOf = (time: bigint) => (time - (((time % DAY) + DAY) % DAY)) / DAY

/** Times never run backwards. Older row groups are passed over by their bounds. */
export async function firstFrom(
  connection: DuckDBConnection,
  project_id: number,
  time: bigint,
): Promise<number | null> {
  const [row] = await rows(
    connection,
    `SELECT min(seq) FROM ${tablesOf(project_id).events} WHERE inserted_at >= make_timestamp($1)`,
    [time],
    [BIGINT],
  )
  return row![0] === null ? null : Number(row![0])
}

/** One statement each: a list of positions would be looked for in all files. */
export async function arrivalsOf(
  connection: DuckDBConnection,
  project_id: number,
  positions: readonly number[],
): Promise<(Date | null)[]> {
  const sql = `SELECT epoch_ms(inserted_at) FROM ${tablesOf(project_id).events} WHERE seq = $1`
  const arrivals: (Date | null)[] = []
  for (const position of positions) {
    const [row] = await rows(connection, sql, [BigInt(position)], [BIGINT])
    arrivals.push(row ? new Date(Number(row[0])) : null)
  }
  return arrivals
}
