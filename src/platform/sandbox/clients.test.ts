// Clients of warehouses and object stores, as apps call them: what goes out, and what comes back.
import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { verifySignature } from '../../../test/stand-ins/s3/sigv4.ts'
import { runCode, TestHost, textAnswer } from './fixture/apps.ts'
import { openSandbox } from './open.ts'
import type { FetchRequest } from './sandbox.ts'

const sandbox = openSandbox({ threads: 1, geoip_database: null })
afterAll(() => sandbox.close())

const run = (body: string, host?: TestHost, config: object = {}) => runCode(sandbox, body, host, { config })

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const credentials = {
  project_id: 'shop',
  client_email: 'exporter@shop.example',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  private_key_id: 'k1',
}
const TOKEN_URL = 'https://oauth2.googleapis.com/token'

/** Google: a token for a good assertion, and `answer` for whoever has it. */
function google(answer: (request: FetchRequest) => ReturnType<typeof textAnswer>): TestHost {
  const host = new TestHost()
  host.answerFetch = async (request) => {
    if (request.url !== TOKEN_URL) {
      if (request.headers.authorization !== 'Bearer t0') return textAnswer(401, 'no token')
      return answer(request)
    }
    const assertion = new URLSearchParams(textOf(request)).get('assertion')!
    const [header, claims, signature] = assertion.split('.')
    const isGood = verify(
      'RSA-SHA256',
      Buffer.from(`${header}.${claims}`),
      createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
      Buffer.from(signature!, 'base64url'),
    )
    return isGood
      ? textAnswer(200, '{"access_token":"t0","expires_in":3600}')
      : textAnswer(400, 'bad assertion')
  }
  return host
}

const textOf = ({ body }: FetchRequest) => Buffer.from(body ?? '', 'base64').toString()
const sentTo = (host: TestHost) =>
  host.requests.filter(({ url }) => url !== TOKEN_URL).map(({ method, url }) => `${method} ${url}`)

describe('Google', () => {
  it('BigQuery: a table that is not there is made, and rows go into it with one token', async () => {
    const host = google((request) => {
      if (request.method !== 'GET') return textAnswer(200, '{}')
      return textAnswer(404, '{"error":{"code":404,"message":"Not found: Table shop:web.events"}}')
    })
    const result = await run(
      `const { BigQuery } = require('@google-cloud/bigquery')
      const client = new BigQuery({ projectId: 'shop', credentials: meta.config })
      const dataset = client.dataset('web')
      const table = dataset.table('events')
      const fault = await table.getMetadata().catch((error) => [error.code, error.message])
      await dataset.createTable('events', { schema: [{ name: 'uuid', type: 'STRING' }] })
      await table.insert([{ json: { uuid: '1' } }], { raw: true })
      return fault`,
      host,
      credentials,
    )
    expect(result).toEqual([404, 'Not found: Table shop:web.events'])
    const tables = 'https://bigquery.googleapis.com/bigquery/v2/projects/shop/datasets/web/tables'
    expect(sentTo(host)).toEqual([
      `GET ${tables}/events`,
      `POST ${tables}`,
      `POST ${tables}/events/insertAll`,
    ])
    expect(host.requests.filter(({ url }) => url === TOKEN_URL)).toHaveLength(1)
    expect(JSON.parse(textOf(host.requests.at(-2)!))).toMatchObject({
      schema: { fields: [{ name: 'uuid', type: 'STRING' }] },
      tableReference: { projectId: 'shop', datasetId: 'web', tableId: 'events' },
    })
    expect(JSON.parse(textOf(host.requests.at(-1)!)).rows).toEqual([{ json: { uuid: '1' } }])
  })

  it('BigQuery: rows that it refuses are an error', async () => {
    const host = google(() =>
      textAnswer(
        200,
        '{"insertErrors":[{"index":0,"errors":[{"reason":"invalid","message":"no such field"}]}]}',
      ),
    )
    const code = `
      const { BigQuery } = require('@google-cloud/bigquery')
      const table = new BigQuery({ credentials: meta.config }).dataset('web').table('events')
      return table.insert({ a: 1 }).then(() => 'taken', (error) => error.name + ': ' + error.message)`
    expect(await run(code, host, credentials)).toMatch(/^PartialFailureError: .*no such field/)
  })

  it('Cloud Storage: a stream becomes a file', async () => {
    const host = google(() => textAnswer(200, '{}'))
    await run(
      `const { Storage } = require('@google-cloud/storage')
      const { PassThrough } = require('stream')
      const file = new Storage({ credentials: meta.config }).bucket('pail').file('a b/1.csv')
      const data = new PassThrough()
      data.push('uuid,event')
      data.push(null)
      await new Promise((resolve, reject) => {
        data.pipe(file.createWriteStream({ resumable: false })).on('error', reject).on('finish', resolve)
      })`,
      host,
      credentials,
    )
    expect(sentTo(host)).toEqual([
      'POST https://storage.googleapis.com/upload/storage/v1/b/pail/o?uploadType=media&name=a%20b%2F1.csv',
    ])
    expect(textOf(host.requests.at(-1)!)).toBe('uuid,event')
  })

  it('Cloud Storage: what is refused reaches the stream as an error', async () => {
    const host = google(() => textAnswer(403, '{"error":{"code":403,"message":"no right"}}'))
    const code = `
      const { Storage } = require('@google-cloud/storage')
      const stream = new Storage({ credentials: meta.config }).bucket('pail').file('1').createWriteStream()
      return await new Promise((resolve) => { stream.on('error', (error) => resolve(error.message)); stream.end('x') })`
    expect(await run(code, host, credentials)).toBe('no right')
  })

  it('Pub/Sub: messages of one go are one request, and errors have the words of gRPC', async () => {
    const host = google((request) =>
      request.method === 'GET'
        ? textAnswer(404, '{"error":{"code":404,"message":"Resource not found","status":"NOT_FOUND"}}')
        : textAnswer(200, '{"messageIds":["1","2","3"]}'),
    )
    const result = await run(
      `const { PubSub } = require('@google-cloud/pubsub')
      const topic = new PubSub({ credentials: meta.config }).topic('events')
      const fault = await topic.getMetadata().catch((error) => error.message)
      await topic.create()
      return [fault, await Promise.all(['a', 'b', 'c'].map((text) => topic.publish(Buffer.from(text))))]`,
      host,
      credentials,
    )
    expect(result).toEqual(['5 NOT_FOUND: Resource not found', ['1', '2', '3']])
    expect(sentTo(host).slice(1)).toEqual([
      'PUT https://pubsub.googleapis.com/v1/projects/shop/topics/events',
      'POST https://pubsub.googleapis.com/v1/projects/shop/topics/events:publish',
    ])
    expect(
      JSON.parse(textOf(host.requests.at(-1)!)).messages.map(({ data }: { data: string }) => data),
    ).toEqual(['a', 'b', 'c'].map((text) => Buffer.from(text).toString('base64')))
  })

  it('a key that is none is refused without being repeated', async () => {
    const code = `
      const { Storage } = require('@google-cloud/storage')
      return new Storage({ credentials: meta.config }).bucket('b').file('f').save('x').catch((error) => error.message)`
    const message = await run(
      code,
      google(() => textAnswer(200, '{}')),
      {
        ...credentials,
        private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----',
      },
    )
    expect(message).toMatch(/private key cannot be read/)
    expect(message).not.toContain('AAAA')
  })
})

describe('S3', () => {
  const upload = (config: string, params = '') => `
    const { S3 } = require('aws-sdk')
    const client = new S3({ accessKeyId: 'AKID', secretAccessKey: 'secret', ${config} })
    return await new Promise((resolve, reject) => client.upload(
      { Bucket: 'pail', Key: '2026-11-01/a b+c.jsonl', Body: Buffer.from('{}'), ${params} },
      (error, data) => error ? reject(error) : resolve(data.Key)))`

  it.each([
    [`region: 'eu-west-1'`, 'https://pail.s3.eu-west-1.amazonaws.com/2026-11-01/a%20b%2Bc.jsonl'],
    [`region: 'us-east-1'`, 'https://pail.s3.amazonaws.com/2026-11-01/a%20b%2Bc.jsonl'],
    [
      `endpoint: 'https://minio.example:9000', s3ForcePathStyle: true`,
      'https://minio.example:9000/pail/2026-11-01/a%20b%2Bc.jsonl',
    ],
  ])('%s', async (config, url) => {
    const host = new TestHost()
    expect(await run(upload(config, `ServerSideEncryption: 'AES256'`), host)).toBe('2026-11-01/a b+c.jsonl')
    const [request] = host.requests
    expect(request).toMatchObject({
      method: 'PUT',
      url,
      headers: {
        'x-amz-server-side-encryption': 'AES256',
        'x-amz-content-sha256': createHash('sha256').update('{}').digest('hex'),
      },
    })
    const { pathname, host: name } = new URL(url)
    // By which the server was called.
    const headers = { ...request!.headers, host: name }
    const signed = { method: 'PUT', target: pathname, headers, body: Buffer.from('{}') }
    const region = /eu-west-1/.test(config) ? 'eu-west-1' : 'us-east-1'
    const keys = (secret: string) => ({ region, secrets: new Map([['AKID', secret]]), now: () => new Date() })
    expect(verifySignature(signed, keys('secret'))).toBe('AKID')
    expect(() => verifySignature(signed, keys('another'))).toThrow('SignatureDoesNotMatch')
  })

  it('what it answers is the error', async () => {
    const host = new TestHost()
    host.answerFetch = async () =>
      textAnswer(403, '<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>')
    const code = `
      const { S3 } = require('aws-sdk')
      const client = new S3({ accessKeyId: 'AKID', secretAccessKey: 'secret' })
      return client.putObject({ Bucket: 'pail', Key: 'k' }).promise().catch((error) => [error.code, error.message])`
    expect(await run(code, host)).toEqual(['AccessDenied', 'Access Denied'])
  })
})

describe('Kinesis', () => {
  const client = `
    const { Kinesis } = require('aws-sdk')
    const client = new Kinesis({ accessKeyId: 'AKID', secretAccessKey: 'secret', region: 'eu-west-1' })`

  it('reads shards and records, signed; data comes as bytes', async () => {
    const host = new TestHost()
    const Data = Buffer.from('{"name":"bought"}').toString('base64')
    host.answerFetch = async ({ headers }) => {
      const action = headers['x-amz-target']!.split('.')[1]!
      const answers: Record<string, object> = {
        DescribeStream: { StreamDescription: { Shards: [{ ShardId: 'shard-0' }] } },
        GetShardIterator: { ShardIterator: 'here' },
        GetRecords: { Records: [{ SequenceNumber: '1', Data }], NextShardIterator: 'there' },
      }
      return textAnswer(200, JSON.stringify(answers[action]))
    }
    const code = `${client}
      const { StreamDescription } = await client.describeStream({ StreamName: 'orders' }).promise()
      const [{ ShardId }] = StreamDescription.Shards
      const { ShardIterator } = await client.getShardIterator({ ShardId, StreamName: 'orders' }).promise()
      return await new Promise((resolve, reject) => client.getRecords({ ShardIterator }, (error, data) =>
        error ? reject(error) : resolve([ShardId, data.Records[0].Data.toString(), data.NextShardIterator])))`
    expect(await run(code, host)).toEqual(['shard-0', '{"name":"bought"}', 'there'])
    const [first] = host.requests
    expect(first).toMatchObject({
      method: 'POST',
      url: 'https://kinesis.eu-west-1.amazonaws.com/',
      headers: { 'x-amz-target': 'Kinesis_20131202.DescribeStream' },
    })
    expect(first!.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/kinesis\/aws4_request, SignedHeaders=.*, Signature=[0-9a-f]{64}$/,
    )
  })

  it('names what the service refuses, by which apps tell an iterator that has expired', async () => {
    const host = new TestHost()
    host.answerFetch = async () =>
      textAnswer(400, '{"__type":"com.amazonaws.kinesis#ExpiredIteratorException","message":"Too old."}')
    const code = `${client}
      return client.getRecords({ ShardIterator: 'x' }).promise().catch(({ name, message }) => [name, message])`
    expect(await run(code, host)).toEqual(['ExpiredIteratorException', 'Too old.'])
  })
})

describe('Snowflake', () => {
  it('logs in, runs statements with binds by a pool, and leaves', async () => {
    const host = new TestHost()
    host.answerFetch = async ({ url }) => {
      if (url.includes('login-request')) return json({ token: 'tok' })
      const data = {
        rowtype: [
          { name: 'N', type: 'fixed' },
          { name: 'T', type: 'text' },
        ],
        rowset: [['7', 'x']],
      }
      return json(data)
    }
    const result = await run(
      `const snowflake = require('snowflake-sdk')
      const { createPool } = require('generic-pool')
      snowflake.configure({ insecureConnect: true })
      const pool = createPool({
        create: () => new Promise((resolve, reject) => {
          const made = snowflake.createConnection({ account: 'shop-eu1', username: 'me', password: 'pw', database: 'DB' })
          made.connect((error, connection) => error ? reject(error) : resolve(connection))
        }),
        destroy: (connection) => new Promise((resolve) => connection.destroy(resolve)),
      }, { min: 1, max: 1 })
      const query = () => pool.use((connection) => new Promise((resolve, reject) => connection.execute({
        sqlText: 'SELECT ?', binds: [1, 'a', null], complete: (error, _, rows) => error ? reject(error) : resolve(rows),
      })))
      const rows = await Promise.all([query(), query()])
      await pool.drain()
      await pool.clear()
      return rows`,
      host,
    )
    expect(result).toEqual([[{ N: 7, T: 'x' }], [{ N: 7, T: 'x' }]])
    const paths = host.requests
      .map(({ url }) => new URL(url))
      .map(({ host: name, pathname }) => name + pathname)
    const at = 'shop-eu1.snowflakecomputing.com'
    const query = `${at}/queries/v1/query-request`
    expect(paths).toEqual([`${at}/session/v1/login-request`, query, query, `${at}/session`])
    expect(host.requests[1]!.headers.authorization).toBe('Snowflake Token="tok"')
    expect(JSON.parse(textOf(host.requests[1]!)).bindings).toEqual({
      1: { type: 'FIXED', value: '1' },
      2: { type: 'TEXT', value: 'a' },
      3: { type: 'TEXT', value: null },
    })
  })

  it('a refused login is the error of connect', async () => {
    const host = new TestHost()
    host.answerFetch = async () =>
      textAnswer(
        200,
        '{"success":false,"code":"390100","message":"Incorrect username or password.","data":{}}',
      )
    const code = `
      const { createConnection } = require('snowflake-sdk')
      const connection = createConnection({ account: 'a', username: 'u', password: 'p' })
      return await new Promise((resolve) => connection.connect((error) => resolve(error && error.message)))`
    expect(await run(code, host)).toBe('Incorrect username or password.')
  })

  const json = (data: unknown) =>
    textAnswer(200, JSON.stringify({ success: true, code: null, message: null, data }))
})

describe('pg', () => {
  it('hands values over as the database takes them, and reads what it answers', async () => {
    const host = new TestHost()
    host.answerQuery = () => ({
      command: 'SELECT',
      count: 1,
      fields: [
        ['n', 23],
        ['big', 20],
        ['yes', 16],
        ['at', 1184],
        ['doc', 3802],
        ['none', 3802],
        ['text', 25],
      ].map(([name, type]) => ({ name: String(name), type: Number(type) })),
      rows: [['7', '9007199254740993', 't', '2026-11-01 10:00:00+00', '{"a":1}', 'null', 'x']],
    })
    const result = await run(
      `const { Client } = require('pg')
      const client = new Client({ user: 'me', password: 'pw', host: 'db.example', port: '5439', database: 'd' })
      await client.connect()
      const { rows, rowCount } = await client.query('SELECT $1', [new Date(0), { a: 1 }, undefined, Buffer.from('hi'), 5])
      await client.end()
      return { rows, rowCount, at: rows[0].at instanceof Date }`,
      host,
    )
    expect(result).toEqual({
      rows: [
        {
          n: 7,
          big: '9007199254740993',
          yes: true,
          at: '2026-11-01T10:00:00.000Z',
          doc: { a: 1 },
          none: null,
          text: 'x',
        },
      ],
      rowCount: 1,
      at: true,
    })
    expect(host.databases).toEqual([
      {
        url: null,
        user: 'me',
        password: 'pw',
        host: 'db.example',
        port: 5439,
        database: 'd',
        is_checked: true,
      },
    ])
    expect(host.queries).toEqual([
      { text: 'SELECT $1', values: ['1970-01-01T00:00:00.000Z', '{"a":1}', null, '\\x6869', 5] },
    ])
  })

  it('is not there for those that never named it', async () => {
    expect(
      await run(
        `const name = 'p' + 'g'; try { require(name); return 'there' } catch (error) { return error.message }`,
      ),
    ).toMatch(/^pg cannot be imported/)
  })
})

it('zlib compresses with Brotli', async () => {
  const packed = await run(`return require('zlib').brotliCompressSync('x'.repeat(1000)).toString('base64')`)
  expect(brotliDecompressSync(Buffer.from(String(packed), 'base64')).toString()).toBe('x'.repeat(1000))
})
