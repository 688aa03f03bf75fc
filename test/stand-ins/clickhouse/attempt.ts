// Attempts at delivering rows of a test's own to ClickHouse.
import type { OutputColumn } from '../../../src/features/batch-exports/definition.ts'
import type {
  Delivered,
  Delivery,
  RunFacts,
} from '../../../src/features/batch-exports/destinations/destination.ts'
import { uuidOf } from '../../../src/features/batch-exports/destinations/fixture/rows.ts'
import type { World } from '../../../src/features/batch-exports/destinations/fixture/world.ts'
import { attempt, contextOf } from '../warehouse/attempt.ts'
import { asParquet } from './parquet-file.ts'

export const COLUMNS: OutputColumn[] = [
  { name: 'uuid', kind: 'text' },
  { name: 'event', kind: 'text' },
  { name: 'properties', kind: 'json' },
  { name: 'distinct_id', kind: 'text' },
  { name: 'timestamp', kind: 'timestamp' },
]
export const WITHOUT_UUID: OutputColumn[] = [{ name: 'event', kind: 'text' }]

export const row = (name: string, timestamp = '2024-03-01T10:00:00.123456Z') => ({
  uuid: uuidOf(name),
  event: `event ${name}`,
  properties: { nested: { deep: [1, null] } },
  distinct_id: 'ann',
  timestamp,
})

type Sent = { columns?: OutputColumn[]; run?: Partial<RunFacts>; signal?: AbortSignal; logged?: string[] }

export function send(
  place: World,
  rows: readonly object[],
  { columns = COLUMNS, ...rest }: Sent = {},
): Promise<Delivered> {
  return attempt(place, { columns, files: [rows], asFile: asParquet(columns), ...rest })
}

/** An attempt that has sent its rows and not finished. */
export async function load(place: World, rows: readonly object[], sent: Sent = {}): Promise<Delivery> {
  const columns = sent.columns ?? COLUMNS
  const delivery = await (await place.kind.load()).open(contextOf(place, { ...sent, columns }))
  await asParquet(columns)(rows, (file) => delivery.write(file))
  return delivery
}

/** The events of rows, in order. */
export const names = (rows: readonly Record<string, unknown>[]) =>
  rows.map(({ event }) => String(event)).toSorted()
