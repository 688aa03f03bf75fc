// Files to S3: the promises of every destination, and what is S3's own. Against the stand-in, and against a real gateway
// when the environment names one (scripts/ceph).
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { S3Fault } from '../../../../../test/stand-ins/s3/faults.ts'
import { openOutbound } from '../../../../platform/outbound/outbound.ts'
import { Passing, Refused, Unreachable, type OpenUpload, type Removed } from '../destination.ts'
import {
  contextOf,
  deliverTo,
  makeTemporaryFolder,
  RUN,
  RUN_NAME,
  runStep,
  writeFiles,
} from '../fixture/file-runs.ts'
import { describeDestination } from '../fixture/suite.ts'
import { openGatewayWorld } from './fixture/gateway.ts'
import { BUCKET, openStandInWorld } from './fixture/stand-in.ts'
import { s3Kind } from './kind.ts'
import { IS_LONG } from '../../../../../test/harness/long.ts'
import { stillOurs } from '../fixture/still-ours.ts'

describeDestination('S3', () => openStandInWorld())
describeDestination('S3, compressed and in numbered files', () =>
  openStandInWorld({ compression: 'gzip', max_file_size_mb: 1 }),
)
if (IS_LONG)
  describeDestination('S3, CSV by gzip at a level', () =>
    openStandInWorld({ file_format: 'CSV', compression: 'gzip', compression_level: 9 }),
  )

const gateway = process.env.S3_TEST_ENDPOINT
if (gateway !== undefined) describeDestination('S3 at a real gateway', () => openGatewayWorld(gateway))

describe('S3 alone', () => {
  let folder: Awaited<ReturnType<typeof makeTemporaryFolder>>
  let world: Awaited<ReturnType<typeof openStandInWorld>>
  beforeEach(async () => {
    folder = await makeTemporaryFolder()
    world = await openStandInWorld()
  })
  afterEach(async () => {
    await world.close()
    await folder.remove()
  })

  const bucket = () => world.server.buckets.get(BUCKET)!
  const KEY = `pre/events/${RUN_NAME}.jsonl`

  test('one file: its name, its marks, and no manifest', async () => {
    const files = await writeFiles(folder.path, '{"a":1}\n')
    const delivered = await deliverTo(world, files)
    const { sha256 } = files[0]!
    expect(delivered).toEqual({ rows: 1, files: [{ name: KEY, rows: 1, bytes: 8, sha256 }] })
    expect([...bucket().objects.keys()]).toEqual([KEY])
    expect(bucket().objects.get(KEY)).toMatchObject({ metadata: { rows: '1', sha256 }, encryption: null })
    expect(world.server.calls).toEqual(['CreateMultipartUpload', 'UploadPart', 'CompleteMultipartUpload'])
  })

  test('numbered files, and a manifest after the last of them, the same at every attempt', async () => {
    const config = { max_file_size_mb: 1, file_format: 'Parquet', compression: 'snappy' }
    await deliverTo(world, await writeFiles(folder.path, 'one', 'second'), { config })
    const names = [0, 1].map((index) => `pre/events/${RUN_NAME}-${index}.parquet.sz`)
    const manifest = `pre/events/${RUN_NAME}_manifest.json`
    expect([...bucket().objects.keys()]).toEqual([...names, manifest])
    expect(bucket().objects.get(manifest)!.content_type).toBe('application/json')
    const first = bucket().objects.get(manifest)!.content
    expect(JSON.parse(first.toString())).toEqual({
      files: names,
      rows: 2,
      bytes: 9,
      contents: [
        { name: names[0], rows: 1, bytes: 3, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        { name: names[1], rows: 1, bytes: 6, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ],
    })
    await deliverTo(world, await writeFiles(folder.path, 'one', 'second'), { config, run: { attempt: 2 } })
    expect(bucket().objects.get(manifest)!.content).toEqual(first)
    expect(bucket().objects.size).toBe(3)
  })

  test('a large file goes in parts of 50 MiB', async () => {
    const path = join(folder.path, 'large')
    const bytes = 50 * 1024 * 1024 + 3
    const handle = await open(path, 'w')
    await handle.truncate(bytes)
    await handle.write('end', bytes - 3)
    await handle.close()
    await deliverTo(world, [{ index: 0, path, rows: 5, bytes, sha256: 'f'.repeat(64) }])
    const { content, etag } = bucket().objects.get(KEY)!
    expect(etag).toMatch(/-2$/)
    expect(content.length).toBe(bytes)
    expect(content.subarray(-4).toString()).toBe('\0end')
    expect(content.indexOf('end')).toBe(bytes - 3)
  })

  test('the encryption asked for goes with files and manifest', async () => {
    const config = { encryption: 'aws:kms', kms_key_id: 'key-1', max_file_size_mb: 1 }
    await deliverTo(world, await writeFiles(folder.path, 'x'), { config })
    const found = [...bucket().objects.values()].map(({ encryption }) => encryption)
    const expected = { algorithm: 'aws:kms', kms_key_id: 'key-1' }
    expect(found).toEqual([expected, expected])
  })

  test('buckets are found by virtual host when that is asked for', async () => {
    const asked: string[] = []
    const outbound = openOutbound({
      allow: ['127.0.0.1'],
      lookup: async (name) => {
        asked.push(name)
        return [{ address: '127.0.0.1' }]
      },
    })
    const config = {
      endpoint_url: `http://localhost:${world.server.port}`,
      use_virtual_style_addressing: true,
    }
    await deliverTo({ ...world, outbound }, await writeFiles(folder.path, 'x'), { config })
    await outbound.close()
    expect(new Set(asked)).toEqual(new Set([`${BUCKET}.localhost`]))
    expect([...bucket().objects.keys()]).toEqual([KEY])
  })

  test('an empty file is a file', async () => {
    await deliverTo(world, await writeFiles(folder.path, ''))
    expect(bucket().objects.get(KEY)!.content.length).toBe(0)
  })

  test.each([
    ['CreateMultipartUpload', 1],
    ['UploadPart', 2],
    ['CompleteMultipartUpload', 3],
  ])('a lost answer to %s is made up for within the attempt', async (call, exchange) => {
    world.cuts!.reset()
    world.cuts!.cutAt(exchange, 'after')
    expect(await deliverTo(world, await writeFiles(folder.path, 'x'))).toMatchObject({ rows: 1 })
    expect(world.server.calls.filter((each) => each === call)).toHaveLength(2)
    expect(bucket().objects.get(KEY)!.content.toString()).toBe('x')
    expect(bucket().uploads.size).toBe(0)
  })

  describe('what an attempt that died left open', () => {
    const die = async () => {
      const { open: begin } = await world.kind.load()
      await (await begin(contextOf(world))).write((await writeFiles(folder.path, 'x'))[0]!)
      expect(bucket().uploads.size).toBe(1)
    }

    test('is removed by the next one, and nothing else is', async () => {
      await die()
      bucket().uploads.set('foreign', {
        ...[...bucket().uploads.values()][0]!,
        id: 'foreign',
        key: `${KEY}0`,
      })
      await deliverTo(world, await writeFiles(folder.path, 'x'), { run: { attempt: 2 } })
      expect([...bucket().uploads.keys()]).toEqual(['foreign'])
      expect([...bucket().objects.keys()]).toEqual([KEY])
    })

    test('stays when the credentials may not look for it, and the run is delivered', async () => {
      await die()
      world.server.denied.add('ListMultipartUploads')
      const logs: string[] = []
      await deliverTo(world, await writeFiles(folder.path, 'x'), { run: { attempt: 2 }, logs })
      expect(bucket().objects.size).toBe(1)
      expect(logs.join()).toContain('Access denied')
    })
  })

  test('an attempt that was only asleep shows nothing once another has begun, whatever the names of its files', async () => {
    world.server.denied.add('ListMultipartUploads')
    const { open: begin } = await world.kind.load()
    const uploads: OpenUpload[] = []
    const asleep = await begin(contextOf(world, { config: { max_file_size_mb: 1 }, uploads }))
    for (const file of await writeFiles(folder.path, 'x', 'y')) await asleep.write(file)
    expect(uploads).toHaveLength(2)
    // The size of files was changed, and the run was done again: it has one file, without a number.
    const run = { attempt: 2 }
    await deliverTo(world, await writeFiles(folder.path, 'xy'), { run, left_uploads: uploads })
    await expect(asleep.finish(stillOurs)).rejects.toThrow(Passing)
    await asleep.abort()
    expect([...bucket().objects.keys()]).toEqual([KEY])
    expect(bucket().uploads.size).toBe(0)
  })

  test('credentials that may not end uploads are good enough to export', async () => {
    const left_uploads = [{ name: KEY, id: 'long gone' }]
    await deliverTo(world, await writeFiles(folder.path, 'x'), { run: { attempt: 2 }, left_uploads })
    world.server.denied.add('AbortMultipartUpload')
    const logs: string[] = []
    await deliverTo(world, await writeFiles(folder.path, 'x'), { run: { attempt: 3 }, left_uploads, logs })
    expect(logs.join()).toContain('Access denied')
    expect([...bucket().objects.keys()]).toEqual([KEY])
  })

  describe('a sweep', () => {
    const uploads: OpenUpload[] = []
    const keys = () => [...bucket().uploads.values()].map(({ key }) => key)
    beforeEach(async () => {
      uploads.length = 0
      const { open: begin } = await world.kind.load()
      const delivery = await begin(contextOf(world, { uploads }))
      for (const file of await writeFiles(folder.path, 'x', 'y')) await delivery.write(file)
    })

    const sweep = async () => {
      const { sweep: remove } = await world.kind.load()
      const removed: Removed[] = []
      for await (const each of remove!({ ...contextOf(world), runs: [{ ...RUN, uploads }] }))
        removed.push(each)
      return removed
    }

    test('ends the uploads of the run by their ids, and none of a stranger, not even at the same key', async () => {
      const ours = [...bucket().uploads.values()][0]!
      bucket().uploads.set('foreign', { ...ours, id: 'foreign' })
      bucket().uploads.set('neighbour', { ...ours, id: 'neighbour', key: 'pre/events/other.jsonl' })
      expect(await sweep()).toEqual([
        { kind: 'unfinished upload', name: KEY },
        { kind: 'unfinished upload', name: KEY },
      ])
      expect([...bucket().uploads.keys()]).toEqual(['foreign', 'neighbour'])
      expect(world.server.calls).not.toContain('ListMultipartUploads')
    })

    test('says nothing of those that are gone, and leaves objects alone', async () => {
      await deliverTo(world, await writeFiles(folder.path, 'x'), { run: { attempt: 2 } })
      expect(await sweep()).toEqual([])
      expect([...bucket().objects.keys()]).toEqual([KEY])
    })

    test('that is not allowed says so and leaves all', async () => {
      world.server.denied.add('AbortMultipartUpload')
      await expect(sweep()).rejects.toThrow(Refused)
      expect(keys()).toEqual([KEY, KEY])
    })

    test('that is asked for nothing calls nobody', async () => {
      uploads.length = 0
      const before = world.server.calls.length
      expect(await sweep()).toEqual([])
      expect(world.server.calls).toHaveLength(before)
    })
  })

  test('an upload that cannot be written down is ended at once', async () => {
    const { open: begin } = await world.kind.load()
    const context = contextOf(world)
    const lost = new Error('the database is gone')
    const delivery = await begin({
      ...context,
      progress: { ...context.progress, began: () => Promise.reject(lost) },
    })
    await expect(delivery.write((await writeFiles(folder.path, 'x'))[0]!)).rejects.toBe(lost)
    expect(world.server.calls).toEqual(['CreateMultipartUpload', 'AbortMultipartUpload'])
    expect(bucket().uploads.size).toBe(0)
  })

  describe('errors', () => {
    const fail = async (config: object = {}) =>
      await deliverTo(world, await writeFiles(folder.path, 'x'), { config }).catch((error: unknown) => error)

    test.each([
      [
        'an unknown bucket',
        { bucket_name: 'nobody' },
        'The bucket does not exist. Create it, or correct `bucket_name`.',
      ],
      [
        'an unknown key',
        { aws_access_key_id: 'AKIAUNKNOWN' },
        'The access key is not known to S3. Send one that is, with its secret.',
      ],
      [
        'a wrong secret',
        { aws_secret_access_key: 'wrong' },
        'The secret access key does not belong to the access key. Send both again.',
      ],
      ['another region', { region: 'us-west-2' }, 'The bucket is in another region. Correct `region`.'],
      [
        'a long name',
        { prefix: 'p'.repeat(1020) },
        'The file names are longer than S3 allows. Use a shorter prefix.',
      ],
    ])('%s is refused', async (_what, config, message) => {
      const error = await fail(config)
      expect(error).toBeInstanceOf(Refused)
      expect((error as Error).message).toBe(message)
      expect(bucket().objects.size + bucket().uploads.size).toBe(0)
    })

    test('denied: refused at once, and what was begun is gone', async () => {
      world.server.denied.add('UploadPart')
      expect(await fail()).toBeInstanceOf(Refused)
      expect(world.server.calls).toEqual(['CreateMultipartUpload', 'AbortMultipartUpload'])
      expect(bucket().uploads.size).toBe(0)
    })

    test('busy: tried again, part or not', async () => {
      world.server.failNext('CreateMultipartUpload', new S3Fault('SlowDown', 503))
      world.server.failNext('UploadPart', new S3Fault('RequestTimeout', 400))
      world.server.failNext('CompleteMultipartUpload', new S3Fault('InternalError', 500))
      expect(await fail()).toMatchObject({ rows: 1 })
      expect(world.server.calls.filter((call) => call === 'UploadPart')).toHaveLength(2)
    })

    test('an upload that somebody else removed: passing', async () => {
      const { open: begin } = await world.kind.load()
      const delivery = await begin(contextOf(world))
      await delivery.write((await writeFiles(folder.path, 'x'))[0]!)
      bucket().uploads.clear()
      await expect(delivery.finish(stillOurs)).rejects.toThrow(Passing)
      await delivery.abort()
      expect(bucket().objects.size).toBe(0)
    })

    test('nobody there, a name that does not resolve, something else there: unreachable', async () => {
      const other = createServer((_request, response) => response.end('<html>hello</html>'))
      other.listen(0, '127.0.0.1')
      await once(other, 'listening')
      const { port } = other.address() as AddressInfo
      const outbound = openOutbound({ allow: ['127.0.0.1'], lookup: async () => [] })
      try {
        for (const [endpoint_url, text] of [
          ['http://127.0.0.1:1', 'cannot be reached (ECONNREFUSED). Check host and port'],
          ['http://nowhere.example', 'its host name does not resolve. Check the host name.'],
          [`http://127.0.0.1:${port}`, 'what answers there is not S3. Check `endpoint_url`'],
          [`https://127.0.0.1:${port}`, 'Check its address and its certificate.'],
        ] as const) {
          const files = await writeFiles(folder.path, 'x')
          const failed = deliverTo({ ...world, outbound }, files, { config: { endpoint_url } })
          await expect(failed, endpoint_url).rejects.toThrow(Unreachable)
          await expect(failed, endpoint_url).rejects.toThrow(text)
          const step = runStep({ ...world, outbound }, 0, { endpoint_url })
          await expect(step, endpoint_url).rejects.toThrow(Unreachable)
        }
      } finally {
        await outbound.close()
        other.closeAllConnections()
        other.close()
      }
    })

    test('an inner address: refused by the gate, nothing dialled', async () => {
      const outbound = openOutbound({ allow: [] })
      const failed = deliverTo({ ...world, outbound }, await writeFiles(folder.path, 'x'))
      await expect(failed).rejects.toThrow(Refused)
      await outbound.close()
      expect(world.cuts!.count()).toBe(0)
    })

    test("without credentials: refused, and the server's own are not used", async () => {
      const environment = {
        AWS_ACCESS_KEY_ID: world.server.access_key_id,
        AWS_SECRET_ACCESS_KEY: world.server.secret_access_key,
      }
      const error = await withEnvironment(environment, () => fail({ aws_secret_access_key: null }))
      expect(error).toBeInstanceOf(Refused)
      expect((error as Error).message).toContain('aws_secret_access_key')
      expect(world.cuts!.count()).toBe(0)
    })

    test("without an endpoint: Amazon's, whatever the server's environment says", async () => {
      const asked: string[] = []
      const outbound = openOutbound({
        allow: ['127.0.0.1'],
        lookup: async (name) => {
          asked.push(name)
          return []
        },
      })
      const environment = { AWS_ENDPOINT_URL: world.server.url, AWS_ENDPOINT_URL_S3: world.server.url }
      const files = await writeFiles(folder.path, 'x')
      await withEnvironment(environment, async () => {
        const failed = deliverTo({ ...world, outbound }, files, { config: { endpoint_url: null } })
        await expect(failed).rejects.toThrow(Unreachable)
      })
      await outbound.close()
      expect(new Set(asked)).toEqual(new Set([`s3.${world.server.region}.amazonaws.com`]))
      expect(world.server.calls).toEqual([])
    })

    test('cancelled: stops with the reason, and leaves nothing', async () => {
      const reason = new Error('cancelled')
      const controller = new AbortController()
      const { open: begin } = await world.kind.load()
      const delivery = await begin(contextOf(world, { signal: controller.signal }))
      const [one, two] = await writeFiles(folder.path, 'x', 'y')
      await delivery.write(one!)
      controller.abort(reason)
      await expect(delivery.write(two!)).rejects.toBe(reason)
      await expect(delivery.finish(stillOurs)).rejects.toBe(reason)
      await delivery.abort()
      expect(bucket().objects.size + bucket().uploads.size).toBe(0)
    })
  })

  test.each([
    ['bucket_name', { bucket_name: 'a/../b' }],
    ['bucket_name', { bucket_name: 'arn:aws:s3:::exports' }],
    ['region', { region: 'evil.example#' }],
    ['region', { region: 'eu-central-1.evil' }],
    ['prefix', { prefix: '../{table}' }],
    ['prefix', { prefix: '{tables}' }],
    ['endpoint_url', { endpoint_url: 'ftp://s3.example' }],
    ['endpoint_url', { endpoint_url: 'https://user:password@s3.example' }],
    ['endpoint_url', { endpoint_url: 'https://s3.example/?X-Amz-Signature=abc' }],
    ['kms_key_id', { kms_key_id: 'key-1', encryption: 'AES256' }],
    ['compression', { compression: 'zstd' }],
    ['compression_level', { compression: 'gzip', compression_level: 12 }],
    ['csv_header', { csv_header: false }],
  ])('a configuration with a wrong %s is not taken: %j', (field, more) => {
    const config = s3Kind.config.parse({ ...world.config, ...more })
    expect(s3Kind.faults!(config)).toMatchObject({ field })
    expect(JSON.stringify(s3Kind.faults!(config))).not.toMatch(/password|Signature/)
    expect(s3Kind.faults!(s3Kind.config.parse(world.config))).toBeNull()
  })

  describe('test steps', () => {
    test('find what is missing', async () => {
      await expect(runStep(world, 0, { bucket_name: 'nobody' })).rejects.toThrow('The bucket does not exist.')
      world.server.denied.add('PutObject')
      await runStep(world, 0)
      await expect(runStep(world, 1)).rejects.toThrow('Access denied')
    })

    test('are content with credentials that may only write', async () => {
      world.server.denied.add('ListObjectsV2').add('DeleteObject')
      await runStep(world, 0)
      await runStep(world, 1)
      expect([...bucket().objects.keys()]).toEqual(['pre/.longshore-connection-test'])
    })
  })
})

async function withEnvironment<T>(values: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const before = { ...process.env }
  Object.assign(process.env, values)
  try {
    return await work()
  } finally {
    for (const name of Object.keys(values)) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  }
}
