// Batch exports: bodies and parameters that mean more than their schemas say, for every kind of destination. No name in
// them resolves and nobody is called.
import fc, { type Arbitrary } from 'fast-check'
import { INTERVALS, MODELS } from '../../src/features/batch-exports/definition.ts'
import { wildFilters } from './filters.ts'
import { wildQueryText } from './hogql.ts'
import type { Operation } from './operations.ts'
import { anyJson, anyOf, hostileText, mostly, valid, type Source } from './values.ts'

export const isAboutExports = ({ path }: Pick<Operation, 'path'>) => path.includes('/batch_exports/')

type Destination = { type: string; config: Record<string, unknown> }

const FILES = { file_format: 'Parquet', compression: 'zstd', max_file_size_mb: 5 }
const DATABASE = { user: 'exporter', password: 'a password', host: 'db.example', database: 'warehouse' }
const DESTINATIONS: Destination[] = [
  { type: 'File', config: {} },
  { type: 'File', config: { prefix: 'a/{year}/{month}', ...FILES } },
  {
    type: 'File',
    config: { file_format: 'CSV', csv_header: false, compression: 'gzip', compression_level: 9 },
  },
  { type: 'NoOp', config: { arg: 'x', include_events: ['seen'], exclude_events: null } },
  { type: 'HTTP', config: { url: 'https://capture.example/batch', token: 'a token' } },
  { type: 'Postgres', config: { ...DATABASE, port: '5432', has_self_signed_cert: 'true' } },
  { type: 'Redshift', config: { ...DATABASE, properties_data_type: 'super' } },
  {
    type: 'S3',
    config: { bucket_name: 'bucket', region: 'eu-west-1', prefix: 'out/{table}', ...FILES },
  },
  {
    type: 'S3',
    config: {
      bucket_name: 'bucket',
      region: 'eu-west-1',
      prefix: 'out',
      aws_access_key_id: 'an id',
      aws_secret_access_key: 'a key',
      endpoint_url: 'https://s3.example',
      use_virtual_style_addressing: 1,
    },
  },
  {
    type: 'Snowflake',
    config: {
      account: 'acme',
      database: 'd',
      warehouse: 'w',
      schema: 's',
      user: 'exporter',
      password: 'a password',
    },
  },
  {
    type: 'BigQuery',
    config: {
      project_id: 'acme',
      dataset_id: 'd',
      private_key: 'a key',
      private_key_id: 'its id',
      token_uri: 'https://token.example/',
      client_email: 'exporter@acme.example',
    },
  },
  {
    type: 'AzureBlob',
    config: { account_name: 'account', account_key: 'a key', container_name: 'container' },
  },
  {
    type: 'Databricks',
    config: {
      server_hostname: 'databricks.example',
      http_path: '/sql/1.0/warehouses/abc',
      catalog: 'c',
      schema: 's',
      table_name: 't',
      client_id: 'an id',
      client_secret: 'a secret',
    },
  },
  {
    type: 'ClickHouse',
    config: { url: 'https://clickhouse.example:8443', user: 'exporter', password: 'a password' },
  },
]
const NAMES_OF_CONFIG = [...new Set(DESTINATIONS.flatMap(({ config }) => Object.keys(config)))]

const QUERIES = [
  'select * from events',
  "select event, properties.$browser as browser, 1 + 1 as two from events where event = 'seen'",
  'select uuid, toString(timestamp), person.properties.email from events',
]
const FILTERS = [
  [],
  [{ key: 'plan', value: ['a'], operator: 'exact', type: 'event' }],
  [{ key: 'email', operator: 'is_set', type: 'person' }],
  [{ key: "event != 'x'", type: 'hogql' }],
]
const TIMES = [null, '2024-01-01T00:00:00Z', '2024-01-01 00:00:00', '2099-01-01']
const ODD_TIMES = [
  '0001-01-01',
  '9999-12-31T23:59:59.999Z',
  '2024-02-30',
  '-7d',
  '2024-06-01T10:00',
  'now',
  '',
]

/** The rest of it goes with any interval, model and destination. */
const OPTIONAL = {
  paused: fc.boolean(),
  start_at: fc.constantFrom(...TIMES.slice(0, 3)),
  end_at: fc.constantFrom(null, TIMES[3]!),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
}

const goodDestination = fc.constantFrom(...DESTINATIONS)
const newExport = (destination: Arbitrary<unknown>) =>
  fc.record(
    {
      name: fc.constantFrom('Nightly', 'Zoë’s “export”', '<b>1</b>'),
      interval: fc.constantFrom(...INTERVALS),
      destination,
      ...OPTIONAL,
    },
    { requiredKeys: ['name', 'interval', 'destination'] },
  )

const ofFiles = goodDestination.filter(({ type }) => type === 'File')
const withRows = fc.record(
  {
    name: fc.constant('Chosen'),
    interval: fc.constant('hour'),
    destination: ofFiles,
    hogql_query: fc.constantFrom(null, ...QUERIES),
    filters: fc.constantFrom(null, ...FILTERS),
  },
  { requiredKeys: ['name', 'interval', 'destination'] },
)
const weekly = fc.record({
  name: fc.constant('Weekly'),
  interval: fc.constant('week'),
  destination: ofFiles,
  model: fc.constantFrom(null, ...MODELS),
  offset_day: fc.integer({ min: 0, max: 6 }),
  offset_hour: fc.constantFrom<unknown>(0, '23', null),
})

const change = fc.record(
  {
    name: fc.constantFrom('Changed', 'Again'),
    destination: fc.constant({ config: { exclude_events: ['x'] } }),
    ...OPTIONAL,
  },
  { requiredKeys: [] },
)

/** Most ranges hold none of the events, so that not every backfill stays at work. */
const range = fc.record({
  start_at: fc.constantFrom('2020-01-01T00:00:00Z', '2021-05-01T00:00:00+02:00', '2019-03-03'),
  end_at: fc.constantFrom('2022-01-01T00:00:00Z', '2023-01-01'),
})

function goodBodies(operation: Operation): Arbitrary<unknown> | undefined {
  const call = operation.name.replace(/^(\w+) .*\/batch_exports\//, '$1 ').replaceAll(/\{\w+\}/g, ':id')
  const bodies: Record<string, Arbitrary<unknown>> = {
    'POST ': fc.oneof({ weight: 3, arbitrary: newExport(goodDestination) }, withRows, weekly),
    'PUT :id/': newExport(ofFiles),
    'PATCH :id/': change,
    'POST :id/unpause/': fc.constantFrom({}, { backfill: false }, { backfill: 'true' }),
    'POST :id/backfill/': range,
    'POST :id/backfills/': range,
    'POST run_test_step_new/': newExport(goodDestination),
    'POST :id/run_test_step/': fc.constantFrom({}, { step: 0 }, { step: '0', destination: {} }),
  }
  return bodies[call]
}

export function goodExportBody(source: Source, operation: Operation): Arbitrary<unknown> {
  return goodBodies(operation) ?? valid(source, operation.body!)
}

const wildValue = fc.oneof(
  { weight: 3, arbitrary: anyJson },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(...ODD_TIMES, ...TIMES) },
  { weight: 1, arbitrary: fc.dictionary(hostileText, anyJson, { maxKeys: 3 }) },
)
const wildConfig = fc
  .tuple(
    goodDestination,
    fc.array(fc.tuple(fc.oneof(fc.constantFrom(...NAMES_OF_CONFIG), hostileText), wildValue), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([{ type, config }, changes]) => ({ type, config: { ...config, ...Object.fromEntries(changes) } }))
const wildFields = {
  destination: fc.oneof<Arbitrary<unknown>[]>(
    wildConfig,
    wildConfig,
    fc.tuple(hostileText, goodDestination).map(([type, { config }]) => ({ type, config })),
    wildConfig.map(({ config }) => ({ config })),
    anyJson,
  ),
  hogql_query: mostly<unknown>(5, wildQueryText, anyJson),
  filters: mostly<unknown>(5, wildFilters, anyJson),
  interval: wildValue,
  model: fc.oneof<Arbitrary<unknown>[]>(fc.constantFrom(...MODELS), anyJson),
  start_at: wildValue,
  end_at: wildValue,
  last_paused_at: wildValue,
  timezone: wildValue,
  offset_day: wildValue,
  offset_hour: wildValue,
  team_id: wildValue,
  name: wildValue,
  step: wildValue,
  backfill: wildValue,
}

/** A good body with one to three of its fields gone wrong. */
export function wildExportBody(source: Source, operation: Operation): Arbitrary<unknown> {
  const names = fc.uniqueArray(fc.constantFrom(...Object.keys(wildFields)), { minLength: 1, maxLength: 3 })
  return fc
    .tuple(goodExportBody(source, operation), fc.record(wildFields), names)
    .map(([good, wild, changed]) => ({
      ...(good as object),
      ...Object.fromEntries(changed.map((name) => [name, wild[name as keyof typeof wildFields]])),
    }))
}

function goodParameter({ side }: Source, name: string, path: string): Arbitrary<string> {
  const row = anyOf(() => (path.includes('/backfills/') ? side.ids.backfill : side.ids.run))
  const values: Record<string, Arbitrary<string>> = {
    destination: goodDestination.map(({ type }) => type),
    cursor: fc.tuple(fc.constantFrom('n', 'p'), row).map(([towards, id]) => towards + id),
    ordering: fc.constantFrom('created_at', '-created_at', 'data_interval_start', '-start_at', 'nonsense'),
    status: fc.constantFrom('Running', 'completed', 'Failed,Cancelled', ''),
    level: fc.constantFrom('INFO', 'error', 'DEBUG,LOG', ''),
    level_filter: fc.constantFrom('INFO', 'warning'),
    search: fc.constantFrom('run', '%', ''),
    limit: fc.integer({ min: 1, max: 20 }).map(String),
    offset: fc.nat({ max: 20 }).map(String),
  }
  return values[name] ?? fc.constantFrom('-7d', '-24h', 'dStart', '2024-01-01', '2099-01-01T00:00:00+02:00')
}

export function goodExportQuery(source: Source, { query, path }: Operation): Arbitrary<string> {
  const pairs = query.map(({ name }) =>
    goodParameter(source, name, path).map((value): [string, string] => [name, value]),
  )
  // Steps are always those of some type.
  const minLength = path.endsWith('/test/') ? 1 : 0
  return fc
    .tuple(...pairs)
    .chain((all) => fc.subarray(all, { minLength }))
    .map((chosen) => new URLSearchParams(chosen).toString())
}
