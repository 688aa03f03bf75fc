// The tables in ClickHouse, and how they come to be. All projects share them; every statement names its project.
import { hotColumn, HOT_PROPERTIES } from '../layout.ts'
import type { ClickHouse } from './client.ts'

/** Columns of events as they are inserted. */
export const EVENT_COLUMNS = [
  'project_id',
  'seq',
  'batch',
  'inserted_at',
  'uuid',
  'event',
  'distinct_id',
  'timestamp',
  'created_at',
  'elements_chain',
  'person_mode',
  'person_id',
  'person_properties',
  'properties',
  ...HOT_PROPERTIES.map(hotColumn),
] as const

export const PERSON_COLUMNS = [
  'project_id',
  'id',
  'created_at',
  'is_identified',
  'properties',
  'version',
  'changed_at',
  'change',
  'is_deleted',
]
export const DISTINCT_ID_COLUMNS = [
  'project_id',
  'distinct_id',
  'person_id',
  'version',
  'changed_at',
  'change',
]
export const GROUP_COLUMNS = ['project_id', 'index', 'key', 'created_at', 'properties', 'change']

/** What is acknowledged is on the disk. */
const DURABLE = 'fsync_after_insert = 1, fsync_part_directory = 1'
/** How many inserts are remembered by their token: a writer repeats one within seconds. */
const REMEMBERED = 10_000

/**
 * Rows lie in order of position, as exports read them. Times mostly rise with positions, so the smallest and largest of each
 * granule are enough to find a range of time. Partitions are months of arrival: those of events' own times are for their
 * senders to choose, and an insert over a thousand months would be a thousand parts.
 */
const EVENTS = `
  project_id Int64,
  seq Int64 CODEC(Delta, ZSTD),
  batch UUID CODEC(ZSTD),
  inserted_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD),
  uuid UUID,
  event LowCardinality(String),
  distinct_id String CODEC(ZSTD),
  timestamp DateTime64(6, 'UTC') CODEC(Delta, ZSTD),
  created_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD),
  elements_chain String CODEC(ZSTD),
  person_mode UInt8,
  person_id UUID CODEC(ZSTD),
  person_properties String CODEC(ZSTD),
  properties String CODEC(ZSTD),
  ${HOT_PROPERTIES.map((property) => `${hotColumn(property)} Nullable(String) CODEC(ZSTD)`).join(',\n  ')},
  INDEX by_time timestamp TYPE minmax GRANULARITY 1,
  INDEX by_arrival inserted_at TYPE minmax GRANULARITY 1,
  INDEX by_uuid uuid TYPE bloom_filter(0.001) GRANULARITY 1,
  INDEX by_event event TYPE set(100) GRANULARITY 1`

const PERSONS = `
  project_id Int64,
  id UUID,
  created_at DateTime64(6, 'UTC'),
  is_identified Bool,
  properties String CODEC(ZSTD),
  version Int64,
  changed_at DateTime64(6, 'UTC'),
  change Int64,
  is_deleted UInt8`

const DISTINCT_IDS = `
  project_id Int64,
  distinct_id String,
  person_id UUID,
  version Int64,
  changed_at DateTime64(6, 'UTC'),
  change Int64`

const GROUPS = `
  project_id Int64,
  \`index\` UInt8,
  key String,
  created_at DateTime64(6, 'UTC'),
  properties String CODEC(ZSTD),
  change Int64`

/** Batches whose rows are never read, once they are no longer among those that PostgreSQL names. */
const CLOSED_BATCHES = `
  project_id Int64,
  batch UUID`

export const TABLES = ['events', 'persons', 'person_distinct_ids', 'groups', 'closed_batches'] as const

/** Each as it was when it came out: what is in it never changes, what follows is added. */
const MIGRATIONS: readonly { name: string; statements(cluster: string | null): string[] }[] = [
  {
    name: '0001_events_and_copies',
    statements: (cluster) => [
      createTable(cluster, 'events', EVENTS, { order: 'project_id, seq', months: 'inserted_at' }),
      createTable(cluster, 'persons', PERSONS, { order: 'project_id, id', latest: 'change' }),
      createTable(cluster, 'person_distinct_ids', DISTINCT_IDS, {
        order: 'project_id, distinct_id',
        latest: 'change',
      }),
      createTable(cluster, 'groups', GROUPS, { order: 'project_id, `index`, key', latest: 'change' }),
    ],
  },
  {
    name: '0002_closed_batches',
    statements: (cluster) => [
      createTable(cluster, 'closed_batches', CLOSED_BATCHES, { order: 'project_id, batch' }),
    ],
  },
]

type TableShape = {
  order: string
  /** By months of this column. */
  months?: string
  /** The row with the highest number stays, among those with the same key. */
  latest?: string
}

function createTable(
  cluster: string | null,
  name: string,
  columns: string,
  { order, months, latest }: TableShape,
): string {
  const engine = latest === undefined ? 'MergeTree' : 'ReplacingMergeTree'
  const place = cluster === null ? [] : [`'/clickhouse/tables/{shard}/{database}/${name}'`, `'{replica}'`]
  const of_engine = [...place, ...(latest === undefined ? [] : [latest])]
  const remembered =
    cluster === null ? 'non_replicated_deduplication_window' : 'replicated_deduplication_window'
  return [
    `CREATE TABLE IF NOT EXISTS ${name}${onCluster(cluster)} (${columns})`,
    `ENGINE = ${cluster === null ? '' : 'Replicated'}${engine}(${of_engine.join(', ')})`,
    ...(months === undefined ? [] : [`PARTITION BY toYYYYMM(${months})`]),
    `ORDER BY (${order})`,
    `SETTINGS ${DURABLE}, ${remembered} = ${REMEMBERED}`,
  ].join('\n')
}

const onCluster = (cluster: string | null) => (cluster === null ? '' : ` ON CLUSTER '${cluster}'`)

/** True also where an earlier start has failed before it had made them all. */
export async function isWithoutTables(clickhouse: ClickHouse): Promise<boolean> {
  const [exists] = await clickhouse.rows({ sql: 'EXISTS TABLE longshore_migrations', parameters: [] })
  if (Number(exists![0]) === 0) return true
  const [count] = await clickhouse.rows({ sql: 'SELECT count() FROM longshore_migrations', parameters: [] })
  return Number(count![0]) === 0
}

/** Brings the tables up to this version. Whoever calls sees to it that nobody else does at the same time. */
export async function migrateTables(clickhouse: ClickHouse): Promise<string[]> {
  const { cluster } = clickhouse
  await clickhouse.command(
    createTable(cluster, 'longshore_migrations', 'name String, applied_at DateTime DEFAULT now()', {
      order: 'name',
    }),
  )
  const known = await clickhouse.rows({ sql: 'SELECT name FROM longshore_migrations', parameters: [] })
  const applied = new Set(known.map(([name]) => String(name)))
  const missing = MIGRATIONS.filter(({ name }) => !applied.has(name))
  for (const { name, statements } of missing) {
    for (const statement of statements(cluster)) await clickhouse.command(statement)
    await clickhouse.insert({ table: 'longshore_migrations', columns: ['name'], rows: [[name]], token: name })
  }
  return missing.map(({ name }) => name)
}
