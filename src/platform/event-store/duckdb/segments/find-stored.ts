// Which events lie in the files of their project: by the filters beside these, and then by the files that may have some.
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isKnown, remember, type KnownIds } from '../../known-ids.ts'
import { idsThatMayBe } from '../journal/id-filter.ts'
import { candidatesIn, eventsNear, type Candidate } from '../journal/repeats.ts'
import { bufferOf, uuidAt, type EncodedIds } from '../journal/section.ts'
import { rows } from '../statements.ts'
import { ROW_GROUP } from './events.ts'
import type { Manifest, Segment } from './manifest.ts'
import { readParquet } from './parquet.ts'
import { EMPTY_MODE } from './vectors.ts'

/** What one statement reads at most, and others wait for: a tenth of a second. */
const ROWS_AT_ONCE = 128 * ROW_GROUP

type Sought = Candidate & { uuid: string }

/** `inTurn` gives the connection for one statement: others look up as well. */
type InTurn = <Found>(work: (connection: DuckDBConnection) => Promise<Found>) => Promise<Found>

/** Gives the places of events that the files have. */
export async function findStored(
  { folder, manifest }: { folder: string; manifest: Manifest },
  ids: EncodedIds,
  inTurn: InTurn,
): Promise<number[]> {
  const bytes = bufferOf(ids)
  const stored = new Set<number>()
  let left: readonly Sought[] = candidatesIn(ids).map((event) => ({
    ...event,
    uuid: uuidAt(bytes, event.place),
  }))
  // Most of what comes again was stored a moment ago.
  for (const segment of manifest.segments.toReversed()) {
    const near = eventsNear(left, BigInt(segment.first_time), BigInt(segment.last_time))
    if (near.length === 0) continue
    const path = join(folder, segment.file)
    const asked = idsThatMayBe(`${path}.ids`, segment.filter_bytes, near)
    const found: KnownIds = new Map()
    if (asked.length > 0) {
      const wanted = askFor(asked)
      for (const range of rangesOf(segment)) {
        const there = await inTurn((connection) => timesIn(connection, path, range, wanted))
        for (const [uuid, time] of there) remember(found, uuid, time)
      }
    }
    for (const { place, uuid, time } of asked) if (isKnown(found, uuid, time)) stored.add(place)
    left = left.filter(({ place }) => !stored.has(place))
    if (left.length === 0) break
    await nextTurn()
  }
  return [...stored]
}

type Range = { from: number; to: number }

/** Positions (from, to] of about as many rows each. */
function rangesOf({ rows: count, seq_from, seq_to }: Segment): Range[] {
  const parts = Math.ceil(count / ROWS_AT_ONCE)
  const bound = (part: number) => seq_from + Math.floor(((seq_to - seq_from) * part) / parts)
  return Array.from({ length: parts }, (_, part) => ({ from: bound(part), to: bound(part + 1) }))
}

const DAY = 86_400_000_000n

type Asked = { first: bigint; last: bigint; bound: DuckDBValue[] }

/** Ids and days are bound as one text each: a list takes longer to bind than the search for what is on it. */
function askFor(events: readonly Sought[]): Asked {
  const times = events.map(({ time }) => time).sort((one, other) => (one < other ? -1 : 1))
  const ids = events.map(({ uuid }) => uuid).join(',')
  const days = events.map(({ time }) => dayOf(time)).join(',')
  return { first: times[0]! - DAY, last: times.at(-1)! + DAY, bound: [ids, days] }
}

/** Gives of an id that many events have only those of the same days. */
async function timesIn(
  connection: DuckDBConnection,
  path: string,
  { from, to }: Range,
  { first, last, bound }: Asked,
): Promise<(readonly [string, bigint])[]> {
  // Bounds that are written out are held against those of row groups: the others are not read.
  const found = await rows(
    connection,
    `WITH found AS MATERIALIZED (
         SELECT uuid, timestamp FROM ${readParquet([path])}
           WHERE seq > ${from} AND seq <= ${to} AND person_mode < ${EMPTY_MODE}
             AND timestamp BETWEEN make_timestamp(${first}) AND make_timestamp(${last})
             AND uuid IN (SELECT unnest(string_split($1, ','))::UUID)
       )
       SELECT uuid::VARCHAR, epoch_us(timestamp) FROM found
         WHERE (uuid, timestamp::DATE - DATE '1970-01-01') IN (
           SELECT id, day + distance
             FROM (SELECT unnest(string_split($1, ','))::UUID AS id, unnest(string_split($2, ','))::BIGINT AS day),
               (VALUES (-1), (0), (1)) AS around(distance)
         )`,
    bound,
  )
  return found.map(([uuid, time]) => [uuid as string, time as bigint])
}

/** Since 1970, rounded down as dates are. */
const dayOf = (time: bigint) => (time - (((time % DAY) + DAY) % DAY)) / DAY
