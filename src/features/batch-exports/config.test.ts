// Configurations of destinations: what is taken, what is refused and under which name, and that no message repeats one.
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../platform/http/errors.ts'
import { openOutbound } from '../../platform/outbound/outbound.ts'
import { assertHostsAllowed, changeConfig, getKind, readConfig } from './config.ts'
import { DESTINATIONS } from './destinations/index.ts'

type Json = Record<string, unknown>

const VALUE = 'value-that-no-message-repeats'

const [CSV, PARQUET] = [{ file_format: 'CSV' }, { file_format: 'Parquet' }]
const LEVEL = 'destination__compression_level'

const GOOD: Record<string, Json> = {
  S3: { bucket_name: 'bucket', region: 'eu-west-1', prefix: 'out' },
  Postgres: { user: VALUE, password: VALUE, host: '8.8.8.8', database: 'd' },
  Redshift: { user: VALUE, password: VALUE, host: '8.8.8.8', database: 'd' },
  Snowflake: { account: 'a', database: 'd', warehouse: 'w', schema: 's', user: VALUE, password: VALUE },
  BigQuery: {
    project_id: 'p',
    dataset_id: 'd',
    private_key: VALUE,
    private_key_id: VALUE,
    token_uri: 'https://oauth2.googleapis.com/token',
    client_email: VALUE,
  },
  HTTP: { url: 'https://8.8.8.8/batch', token: VALUE },
  NoOp: {},
  AzureBlob: { account_name: 'account', account_key: VALUE, container_name: 'container' },
  Databricks: {
    server_hostname: '8.8.8.8',
    http_path: '/sql/1.0/warehouses/abc123',
    catalog: 'c',
    schema: 's',
    table_name: 't',
    client_id: VALUE,
    client_secret: VALUE,
  },
  ClickHouse: { url: 'https://8.8.8.8:8443' },
  File: {},
}

function refusal(attempt: () => unknown): { attr: string | null; code: string; detail: string } {
  try {
    attempt()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect(error.detail).not.toContain(VALUE)
    return error
  }
  throw new Error('it was taken')
}

describe('a complete configuration', () => {
  it.each([...DESTINATIONS.keys()])('of %s is taken with only what is required', (type) => {
    const kind = getKind(type)
    expect(readConfig(kind, GOOD[type]!)).toMatchObject({
      ...GOOD[type],
      include_events: null,
      exclude_events: null,
    })
    for (const key of Object.keys(GOOD[type]!)) {
      const { [key]: _, ...rest } = GOOD[type]!
      const attr = type === 'Snowflake' && key === 'password' ? 'destination' : `destination__${key}`
      expect(
        refusal(() => readConfig(kind, rest)),
        key,
      ).toMatchObject({ attr, code: 'invalid_input' })
    }
  })

  it('has its numbers and flags as such, however they were sent', () => {
    const sent = { ...GOOD.Postgres, port: '6543', has_self_signed_cert: 'true' }
    expect(readConfig(getKind('Postgres'), sent)).toMatchObject({ port: 6543, has_self_signed_cert: true })
  })

  it('asks for persons in tables by choice, where they are not always there', () => {
    const asks = (type: string) =>
      readConfig(getKind(type), { ...GOOD[type], include_person_properties: 'true' })
    for (const type of ['Postgres', 'Redshift', 'BigQuery', 'Snowflake', 'ClickHouse']) {
      expect(readConfig(getKind(type), GOOD[type]!), type).toMatchObject({ include_person_properties: false })
      expect(asks(type), type).toMatchObject({ include_person_properties: true })
    }
    for (const type of ['S3', 'AzureBlob', 'File', 'Databricks', 'HTTP', 'NoOp']) {
      expect(refusal(() => asks(type)).detail, type).toContain('`include_person_properties`')
    }
  })

  it('drops what only later clients send', () => {
    const config = readConfig(getKind('NoOp'), { arg: 'x', team_id: 5, interval: 'day', is_backfill: true })
    expect(config).toEqual({ arg: 'x', include_events: null, exclude_events: null })
  })

  it.each<[string, Json, string, RegExp]>([
    ['S3', { bucket_name: ' ' }, 'destination__bucket_name', /blank/],
    ['S3', { compression: 'zstd' }, 'destination__compression', /gzip, brotli/],
    ['S3', { compression: 'zip' }, 'destination__compression', /gzip/],
    ['S3', { file_format: 'XML' }, 'destination__file_format', /Parquet.*CSV/],
    ['File', { file_format: 'CSV', compression: 'zstd' }, 'destination__compression', /gzip, brotli/],
    ['File', { csv_header: false }, 'destination__csv_header', /Only CSV/],
    ['AzureBlob', { csv_header: 'no', file_format: 'Parquet' }, 'destination__csv_header', /Only CSV/],
    ['S3', { csv_header: null, file_format: 'CSV' }, 'destination__csv_header', /null/],
    ['S3', { compression_level: 5 }, LEVEL, /not compressed/],
    ['S3', { compression: 'gzip', compression_level: 0 }, LEVEL, /1 to 9/],
    ['File', { compression: 'gzip', compression_level: 10 }, LEVEL, /1 to 9/],
    ['S3', { compression: 'brotli', compression_level: -1 }, LEVEL, /0 to 11/],
    ['S3', { ...CSV, compression: 'brotli', compression_level: 12 }, LEVEL, /CSV by brotli .* 0 to 11/],
    ['AzureBlob', { ...PARQUET, compression: 'zstd', compression_level: 0 }, LEVEL, /1 to 22/],
    ['S3', { ...PARQUET, compression: 'zstd', compression_level: 23 }, LEVEL, /1 to 22/],
    ['S3', { ...PARQUET, compression: 'snappy', compression_level: 1 }, LEVEL, /snappy has only one level/],
    ['S3', { ...PARQUET, compression: 'lz4', compression_level: 1 }, LEVEL, /lz4 has only one level/],
    ['S3', { ...PARQUET, compression: 'gzip', compression_level: 6 }, LEVEL, /gzip has only one level/],
    ['S3', { ...PARQUET, compression: 'brotli', compression_level: 6 }, LEVEL, /brotli has only one level/],
    ['S3', { compression: 'gzip', compression_level: 1.5 }, LEVEL, /number/],
    ['S3', { compression: 'gzip', compression_level: VALUE }, LEVEL, /number/],
    ['S3', { encryption: 'none' }, 'destination__encryption', /AES256/],
    ['S3', { endpoint_url: `ftp://${VALUE}` }, 'destination__endpoint_url', /http/],
    ['S3', { endpoint_url: `https://u:${VALUE}@s3.example` }, 'destination__endpoint_url', /credentials/],
    ['S3', { prefix: '{nonsense}' }, 'destination__prefix', /placeholders/],
    ['S3', { prefix: null }, 'destination__prefix', /null/],
    ['S3', { aws_access_key_id: '' }, 'destination__aws_access_key_id', /blank/],
    ['S3', { include_events: 'one' }, 'destination__include_events', /list/],
    ['S3', { include_events: ['one', 2] }, 'destination__include_events__1', /string/],
    ['Postgres', { port: VALUE }, 'destination__port', /number/],
    ['Postgres', { port: 70_000 }, 'destination__port', /65535/],
    ['Postgres', { schema: null }, 'destination__schema', /null/],
    ['Postgres', { host: `postgres://u:${VALUE}@h` }, 'destination__host', /bare host/],
    ['Postgres', { has_self_signed_cert: VALUE }, 'destination__has_self_signed_cert', /boolean/],
    ['Postgres', { user: { name: VALUE } }, 'destination__user', /string/],
    ['Snowflake', { authentication_type: 'keypair' }, 'destination', /private_key/],
    ['Snowflake', { account: `${VALUE}/x` }, 'destination__account', /account/],
    ['HTTP', { url: `https://u:${VALUE}@h.example/` }, 'destination__url', /credentials/],
    ['ClickHouse', { url: `https://u:${VALUE}@h.example/` }, 'destination__url', /credentials/],
    ['ClickHouse', { url: `https://h.example/?password=${VALUE}` }, 'destination__url', /query/],
    ['ClickHouse', { url: 'tcp://h.example:9000' }, 'destination__url', /http/],
    ['ClickHouse', { user: `${VALUE}:x` }, 'destination__user', /colons/],
    ['ClickHouse', { password: '' }, 'destination__password', /blank/],
    ['ClickHouse', { database: 'a`b' }, 'destination__database', /letters/],
    ['ClickHouse', { table_name: '../events' }, 'destination__table_name', /letters/],
    ['ClickHouse', { table_name: 'Longshore_Export_Runs' }, 'destination__table_name', /delivered runs/],
  ])('of %s with %j is refused at %s', (type, wrong, attr, detail) => {
    const found = refusal(() => readConfig(getKind(type), { ...GOOD[type], ...wrong }))
    expect(found).toMatchObject({ attr, code: 'invalid_input', detail: expect.stringMatching(detail) })
  })

  it.each<[Json, Json]>([
    [{}, { file_format: 'JSONLines', csv_header: true, compression: null, compression_level: null }],
    [{ csv_header: true }, { csv_header: true }],
    [{ ...CSV, csv_header: 'false' }, { csv_header: false }],
    [{ ...CSV, compression: 'gzip', compression_level: '9' }, { compression_level: 9 }],
    [{ compression: 'gzip', compression_level: 1 }, { compression_level: 1 }],
    [{ compression: 'brotli', compression_level: 0 }, { compression_level: 0 }],
    [{ compression: 'brotli', compression_level: 11 }, { compression_level: 11 }],
    [{ ...PARQUET, compression: 'zstd', compression_level: 22 }, { compression_level: 22 }],
    [{ ...PARQUET, compression: 'snappy', compression_level: null }, { compression_level: null }],
  ])('says how files are written: %j', (sent, expected) => {
    for (const type of ['S3', 'AzureBlob', 'File']) {
      expect(readConfig(getKind(type), { ...GOOD[type], ...sent })).toMatchObject(expected)
    }
  })

  it('is refused for all its unknown keys at once, before anything else', () => {
    const sent = { type: 'service_account', client_id: VALUE, project_id: 5, auth_uri: VALUE }
    const found = refusal(() => readConfig(getKind('BigQuery'), sent))
    expect(found).toMatchObject({ attr: 'destination', code: 'invalid_input' })
    expect(found.detail).toMatch(
      /^BigQuery does not know `type`, `client_id`, `auth_uri`\. It takes `project_id`, .*`dataset_id`/,
    )
  })

  it('is not repeated by its unknown keys beyond measure', () => {
    const keys = Array.from({ length: 500 }, (_, index) => [`${'k'.repeat(300)}${index}`, 1])
    expect(refusal(() => readConfig(getKind('NoOp'), Object.fromEntries(keys))).detail.length).toBeLessThan(
      2500,
    )
  })

  it('needs a type that there is', () => {
    for (const type of ['s3', 'S4', '', 'constructor', '__proto__']) {
      const found = refusal(() => getKind(type))
      expect(found).toMatchObject({ attr: 'destination__type', code: 'invalid_choice' })
    }
  })
})

describe('a change of a stored configuration', () => {
  const kind = getKind('Postgres')
  const stored = readConfig(kind, GOOD.Postgres!)

  it('keeps what is not sent, secrets included, and takes what is', () => {
    expect(changeConfig(kind, stored, { table_name: 'visits', include_events: ['a'] })).toEqual({
      ...stored,
      table_name: 'visits',
      include_events: ['a'],
    })
    expect(changeConfig(kind, stored, { password: 'next' })).toEqual({ ...stored, password: 'next' })
  })

  it('sets optional settings to null, and replaces lists', () => {
    const s3 = getKind('S3')
    const before = readConfig(s3, { ...GOOD.S3, compression: 'gzip', include_events: ['a', 'b'] })
    const after = changeConfig(s3, before, { compression: null, include_events: ['c'] })
    expect(after).toEqual({ ...before, compression: null, include_events: ['c'] })
  })

  it('is judged by the result', () => {
    const s3 = getKind('S3')
    const parquet = readConfig(s3, { ...GOOD.S3, file_format: 'Parquet', compression: 'zstd' })
    const found = refusal(() => changeConfig(s3, parquet, { file_format: 'JSONLines' }))
    expect(found).toMatchObject({ attr: 'destination__compression' })
    expect(changeConfig(s3, parquet, { compression: 'snappy' })).toMatchObject({ compression: 'snappy' })
    const packed = readConfig(s3, { ...GOOD.S3, ...CSV, compression: 'gzip', compression_level: 9 })
    expect(refusal(() => changeConfig(s3, packed, { compression: null }))).toMatchObject({ attr: LEVEL })
    const open = changeConfig(s3, packed, { compression: null, compression_level: null })
    expect(open).toMatchObject({ compression: null, compression_level: null })
    const headless = readConfig(s3, { ...GOOD.S3, ...CSV, csv_header: false })
    expect(refusal(() => changeConfig(s3, headless, { file_format: 'JSONLines' }))).toMatchObject({
      attr: 'destination__csv_header',
    })
    expect(refusal(() => changeConfig(s3, parquet, { nonsense: 1 })).detail).toMatch(
      /^S3 does not know `nonsense`\. It takes `bucket_name`, /,
    )
  })

  it.each([null, ''])('erases no secret by sending %j', (blank) => {
    for (const secret of ['user', 'password']) {
      const found = refusal(() => changeConfig(kind, stored, { [secret]: blank }))
      expect(found).toMatchObject({ attr: `destination__${secret}`, code: 'invalid_input' })
    }
  })

  it('keeps the other credential when the way of signing in changes', () => {
    const snowflake = getKind('Snowflake')
    const before = readConfig(snowflake, GOOD.Snowflake!)
    expect(refusal(() => changeConfig(snowflake, before, { authentication_type: 'keypair' }))).toMatchObject({
      attr: 'destination',
    })
    const pair = changeConfig(snowflake, before, { authentication_type: 'keypair', private_key: 'pem' })
    const back = changeConfig(snowflake, pair, { authentication_type: 'password' })
    expect(back).toMatchObject({ password: VALUE, private_key: 'pem', authentication_type: 'password' })
  })

  describe('that aims elsewhere', () => {
    it.each([
      { host: '1.1.1.1' },
      { port: 5433 },
      { database: 'other' },
      { has_self_signed_cert: true },
      { host: '1.1.1.1', user: 'known' },
    ])('is refused without the secrets: %j', (sent) => {
      const attr = 'user' in sent ? 'destination__password' : 'destination__user'
      expect(refusal(() => changeConfig(kind, stored, sent))).toMatchObject({ attr, code: 'invalid_input' })
    })

    it('is taken with them, or when it aims at the same', () => {
      const sent = { host: '1.1.1.1', user: 'u', password: 'p' }
      expect(changeConfig(kind, stored, sent)).toMatchObject(sent)
      expect(changeConfig(kind, stored, { host: '8.8.8.8', port: '5432' })).toEqual(stored)
    })

    it('asks for no secret that there is none of', () => {
      const s3 = getKind('S3')
      const open = readConfig(s3, GOOD.S3!)
      expect(changeConfig(s3, open, { bucket_name: 'other' })).toMatchObject({ bucket_name: 'other' })
    })

    it.each([...DESTINATIONS.values()].filter(({ secrets }) => secrets.length > 0))(
      'is known for $type',
      (each) => {
        const before = readConfig(each, GOOD[each.type]!)
        const change: Json = {
          S3: { aws_access_key_id: VALUE, region: 'elsewhere' },
          Redshift: { host: '1.1.1.1' },
          Snowflake: { account: 'other' },
          BigQuery: { project_id: 'other' },
          HTTP: { url: 'https://1.1.1.1/batch' },
          AzureBlob: { account_name: 'another' },
          Databricks: { server_hostname: '1.1.1.1' },
          ClickHouse: { url: 'https://1.1.1.1:8443' },
          Postgres: { host: '1.1.1.1' },
        }[each.type]!
        // Those that may do without.
        const secret = { S3: { aws_secret_access_key: VALUE }, ClickHouse: { password: VALUE } }[each.type]
        expect(refusal(() => changeConfig(each, { ...before, ...secret }, change)).attr).toMatch(
          /^destination__/,
        )
      },
    )
  })
})

describe('hosts', () => {
  const addresses: Record<string, string[]> = {
    'public.example': ['8.8.8.8'],
    'inner.example': ['8.8.8.8', '10.0.0.7'],
    'allowed.example': ['10.0.0.8'],
  }
  const lookup = async (name: string) => (addresses[name] ?? []).map((address) => ({ address }))
  const outbound = openOutbound({ allow: ['10.0.0.8'], lookup })
  const check = (type: string, change: Json) => {
    const kind = getKind(type)
    return assertHostsAllowed(outbound, kind, readConfig(kind, { ...GOOD[type], ...change }))
  }

  it.each<[string, Json]>([
    ['Postgres', { host: 'public.example' }],
    ['Postgres', { host: 'allowed.example' }],
    ['S3', {}],
    ['S3', { endpoint_url: 'https://public.example:9000' }],
    ['NoOp', {}],
  ])('%s with %j may be saved', async (type, change) => {
    await expect(check(type, change)).resolves.toBeUndefined()
  })

  it.each<[string, Json]>([
    ['Postgres', { host: 'does-not-resolve.example' }],
    ['Redshift', { host: 'does-not-resolve.example' }],
    ['HTTP', { url: 'http://does-not-resolve.example/' }],
    ['S3', { endpoint_url: 'https://does-not-resolve.example' }],
    ['AzureBlob', { endpoint_url: null, account_name: 'doesnotresolve' }],
    ['Snowflake', { account: 'does-not-resolve' }],
    ['BigQuery', { token_uri: 'https://does-not-resolve.example/token' }],
    ['Databricks', { server_hostname: 'does-not-resolve.example' }],
    ['ClickHouse', { url: 'https://does-not-resolve.example' }],
  ])('%s with %j does not resolve', async (type, change) => {
    await expect(check(type, change)).rejects.toMatchObject({
      status: 400,
      attr: 'destination',
      detail: expect.stringContaining('does not resolve'),
    })
  })

  it.each<[string, Json]>([
    ['Postgres', { host: 'inner.example' }],
    ['Postgres', { host: '127.0.0.1' }],
    ['Postgres', { host: '2130706433' }],
    ['Postgres', { host: '0x7f.1' }],
    ['Postgres', { host: '0.0.0.0' }],
    ['Postgres', { host: '10.0.0.9' }],
    ['Redshift', { host: '[::1]' }],
    ['Redshift', { host: '[::ffff:169.254.169.254]' }],
    ['HTTP', { url: 'http://169.254.169.254/latest' }],
    ['HTTP', { url: 'http://[::1]/' }],
    ['HTTP', { url: 'http://inner.example./' }],
    ['S3', { endpoint_url: 'http://192.168.1.1' }],
    ['BigQuery', { token_uri: 'http://10.1.1.1/token' }],
    ['AzureBlob', { endpoint_url: 'http://127.1/' }],
    ['Databricks', { server_hostname: '172.16.0.1' }],
    ['ClickHouse', { url: 'http://127.0.0.1:8123' }],
  ])('%s with %j is refused', async (type, change) => {
    await expect(check(type, change)).rejects.toMatchObject({ attr: 'destination', code: 'invalid_input' })
  })
})
