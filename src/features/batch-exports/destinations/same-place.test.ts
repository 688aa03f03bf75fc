// Rows stay the export's own when only the way to them has changed, and are others' when the place has.
import { expect, it } from 'vitest'
import { everyConfig } from '../fixture/every-kind.ts'
import { DESTINATIONS } from './index.ts'
import { isSamePlace, targetKey } from './same-place.ts'

const CONFIGS = everyConfig((name) => `${name} 1`)

it.each<[string, Record<string, unknown>]>([
  ['Databricks', { http_path: '/sql/1.0/warehouses/other' }],
  ['ClickHouse', { user: 'other' }],
  ['Postgres', { has_self_signed_cert: true, user: 'other' }],
  ['Redshift', { has_self_signed_cert: true }],
  ['Snowflake', { user: 'other', warehouse: 'other' }],
  ['BigQuery', { client_email: 'other' }],
  ['S3', { region: 'eu-west-2', use_virtual_style_addressing: true, endpoint_url: 'http://S3.example:80/' }],
  ['AzureBlob', { endpoint_url: 'http://azure.example/' }],
])('%s by another way is the same place', (type, way) => {
  const kind = DESTINATIONS.get(type)!
  const [one, other] = [kind.config.parse(CONFIGS[type]), kind.config.parse({ ...CONFIGS[type], ...way })]
  expect(one).not.toEqual(other)
  expect(isSamePlace(kind, one, other)).toBe(true)
  expect(targetKey(kind, one)).toBe(targetKey(kind, other))
})

it.each<[string, Record<string, unknown>, boolean]>([
  ['Databricks', { table_name: 'other' }, false],
  ['ClickHouse', { url: 'https://other.example:8443' }, false],
  ['Postgres', { host: 'other.example' }, false],
  ['Postgres', { table_name: 'other' }, false],
  ['BigQuery', { dataset_id: 'other' }, false],
  ['HTTP', { url: 'http://other.example/batch' }, false],
  ['S3', { bucket_name: 'another' }, false],
  ['S3', { endpoint_url: 'http://other.example' }, false],
  // Names of files decide there.
  ['S3', { prefix: 'other/{export_id}' }, true],
])('%s with %j is another', (type, change, is_same_bucket) => {
  const kind = DESTINATIONS.get(type)!
  const [one, other] = [kind.config.parse(CONFIGS[type]), kind.config.parse({ ...CONFIGS[type], ...change })]
  expect(isSamePlace(kind, one, other)).toBe(is_same_bucket)
  expect(targetKey(kind, one)).not.toBe(targetKey(kind, other))
})

it.each<[string, string]>([
  ['S3', 'https://s3.amazonaws.com'],
  ['S3', 'http://S3.eu-west-1.amazonaws.com/'],
  ['S3', 'https://s3-us-west-2.amazonaws.com'],
  ['S3', 'https://s3.dualstack.us-east-1.amazonaws.com:443'],
  ['AzureBlob', 'https://LONGSHORE.blob.core.windows.net/'],
])("%s: the provider's own address %s is the one that is called without any", (type, endpoint_url) => {
  const kind = DESTINATIONS.get(type)!
  const [unsaid, said] = [null, endpoint_url].map((endpoint) =>
    kind.config.parse({
      ...CONFIGS[type],
      endpoint_url: endpoint,
      ...(type === 'AzureBlob' && { account_name: 'longshore' }),
    }),
  )
  expect(isSamePlace(kind, unsaid!, said!)).toBe(true)
  const elsewhere = kind.config.parse({ ...CONFIGS[type], endpoint_url: 'https://s3.amazonaws.com.example' })
  expect(isSamePlace(kind, unsaid!, elsewhere)).toBe(false)
})
