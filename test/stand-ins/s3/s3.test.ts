// The stand-in itself, asked by Amazon's own client: it takes what S3 takes and refuses what S3 refuses.
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { S3Fault } from './faults.ts'
import { startS3Server, type S3Server } from './server.ts'
import { verifySignature } from './sigv4.ts'

const Bucket = 'exports'
const PART = 5 * 1024 * 1024

let server: S3Server
let s3: S3Client
const clients: S3Client[] = []

beforeEach(async () => {
  server = await startS3Server([Bucket])
  s3 = client()
})
afterEach(async () => {
  for (const each of clients.splice(0)) each.destroy()
  await server.close()
})

function client(more: S3ClientConfig = {}): S3Client {
  const made = new S3Client({
    endpoint: server.url,
    region: server.region,
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: server.access_key_id, secretAccessKey: server.secret_access_key },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...more,
  })
  clients.push(made)
  return made
}

const put = (Key: string, Body = 'content') => s3.send(new PutObjectCommand({ Bucket, Key, Body }))
const read = async (Key: string) =>
  Buffer.from(await (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body!.transformToByteArray())

async function begin(Key: string): Promise<string> {
  return (await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }))).UploadId!
}

async function part(Key: string, UploadId: string, PartNumber: number, bytes: number) {
  const Body = Buffer.alloc(bytes, PartNumber)
  const { ETag } = await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }))
  return { ETag, PartNumber }
}

const complete = (Key: string, UploadId: string, Parts: { ETag?: string; PartNumber: number }[]) =>
  s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }))

const refused = (code: string, status: number) => ({ name: code, $metadata: { httpStatusCode: status } })

describe('who may', () => {
  test('a wrong secret, an unknown key, another region and a wrong clock are refused', async () => {
    const with_secret = (secretAccessKey: string, accessKeyId = server.access_key_id) =>
      client({ credentials: { accessKeyId, secretAccessKey } }).send(new ListObjectsV2Command({ Bucket }))
    await expect(with_secret('wrong')).rejects.toMatchObject(refused('SignatureDoesNotMatch', 403))
    await expect(with_secret('wrong', 'AKIAUNKNOWN')).rejects.toMatchObject(
      refused('InvalidAccessKeyId', 403),
    )
    const elsewhere = client({ region: 'us-west-2' }).send(new ListObjectsV2Command({ Bucket }))
    await expect(elsewhere).rejects.toMatchObject(refused('AuthorizationHeaderMalformed', 400))
    const late = client({ systemClockOffset: -16 * 60_000 }).send(new ListObjectsV2Command({ Bucket }))
    await expect(late).rejects.toMatchObject(refused('RequestTimeTooSkewed', 403))
    expect(server.calls).toEqual([])
  })

  test('a request without a signature, or changed on its way, is refused', async () => {
    expect((await fetch(`${server.url}/${Bucket}?list-type=2`)).status).toBe(403)
    // What the client signed is kept, and one thing of it changed.
    const change = (alter: (request: { body?: unknown; query: Record<string, string> }) => void) => {
      const changing = client()
      changing.middlewareStack.add(
        (next) => (args) => {
          alter(args.request as { body?: unknown; query: Record<string, string> })
          return next(args)
        },
        { step: 'finalizeRequest', priority: 'low', name: 'change' },
      )
      return changing.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'sent' }))
    }
    await expect(change((request) => (request.body = 'SENT'))).rejects.toMatchObject(
      refused('XAmzContentSHA256Mismatch', 400),
    )
    await expect(change((request) => (request.query.prefix = 'x'))).rejects.toMatchObject(
      refused('SignatureDoesNotMatch', 403),
    )
    expect(server.buckets.get(Bucket)!.objects.size).toBe(0)
  })

  test('the published example of a signature is accepted, and no other', () => {
    const headers = {
      host: 'examplebucket.s3.amazonaws.com',
      'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'x-amz-date': '20130524T000000Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    }
    const keys = {
      region: 'us-east-1',
      secrets: new Map([['AKIAIOSFODNN7EXAMPLE', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY']]),
      now: () => new Date('2013-05-24T00:00:00Z'),
    }
    const request = { method: 'GET', target: '/?max-keys=2&prefix=J', headers, body: Buffer.alloc(0) }
    expect(verifySignature(request, keys)).toBe('AKIAIOSFODNN7EXAMPLE')
    expect(() => verifySignature({ ...request, target: '/?max-keys=3&prefix=J' }, keys)).toThrow(
      'SignatureDoesNotMatch',
    )
    const more = { ...request, headers: { ...headers, 'x-amz-meta-a': 'b' } }
    expect(() => verifySignature(more, keys)).toThrow('not signed')
  })

  test('what is denied, and what is made to fail, fails', async () => {
    server.denied.add('PutObject')
    await expect(put('a')).rejects.toMatchObject(refused('AccessDenied', 403))
    server.denied.clear()
    server.failNext('PutObject', new S3Fault('SlowDown', 503))
    await expect(put('a')).rejects.toMatchObject(refused('SlowDown', 503))
    await put('a')
  })
})

describe('objects', () => {
  const KEY = "a b/ünï+&<>'=~/2023-07-19T00:00:00+00:00.jsonl"

  test('come back as they were put, under any name, with what was said of them', async () => {
    await s3.send(
      new PutObjectCommand({
        Bucket,
        Key: KEY,
        Body: Readable.from([Buffer.from([0, 255]), Buffer.from('x')], { objectMode: false }),
        ContentLength: 3,
        Metadata: { rows: '7' },
        ServerSideEncryption: 'aws:kms',
        SSEKMSKeyId: 'key-1',
      }),
    )
    expect(await read(KEY)).toEqual(Buffer.from([0, 255, 120]))
    expect(await s3.send(new HeadObjectCommand({ Bucket, Key: KEY }))).toMatchObject({
      ContentLength: 3,
      Metadata: { rows: '7' },
      ServerSideEncryption: 'aws:kms',
      SSEKMSKeyId: 'key-1',
      ETag: `"${createHash('md5')
        .update(Buffer.from([0, 255, 120]))
        .digest('hex')}"`,
    })
    const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket }))
    expect(Contents!.map(({ Key }) => Key)).toEqual([KEY])
    await s3.send(new DeleteObjectCommand({ Bucket, Key: KEY }))
    await expect(read(KEY)).rejects.toMatchObject(refused('NoSuchKey', 404))
  })

  test('are refused as S3 refuses them', async () => {
    const send = (more: object) => s3.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x', ...more }))
    await expect(send({ Bucket: 'nobody' })).rejects.toMatchObject(refused('NoSuchBucket', 404))
    await expect(send({ Key: 'k'.repeat(1025) })).rejects.toMatchObject(refused('KeyTooLongError', 400))
    await expect(send({ ServerSideEncryption: 'rot13' })).rejects.toMatchObject(
      refused('InvalidEncryptionAlgorithmError', 400),
    )
    await expect(send({ ContentMD5: 'AAAAAAAAAAAAAAAAAAAAAA==' })).rejects.toMatchObject(
      refused('BadDigest', 400),
    )
    const framed = client({ requestChecksumCalculation: 'WHEN_SUPPORTED' }).send(
      new PutObjectCommand({ Bucket, Key: 'k', Body: Readable.from(['x']), ContentLength: 1 }),
    )
    await expect(framed).rejects.toMatchObject(refused('MissingContentLength', 411))
    expect(server.buckets.get(Bucket)!.objects.size).toBe(0)
    await s3.send(new HeadBucketCommand({ Bucket }))
    await expect(s3.send(new HeadBucketCommand({ Bucket: 'nobody' }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 404 },
    })
  })

  test('are written under a condition or not at all', async () => {
    const send = (more: object) =>
      s3.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'second', ...more }))
    await expect(send({ IfMatch: '"x"' })).rejects.toMatchObject(refused('NoSuchKey', 404))
    const { ETag } = await put('k', 'first')
    await expect(send({ IfNoneMatch: '*' })).rejects.toMatchObject(refused('PreconditionFailed', 412))
    await expect(send({ IfMatch: '"x"' })).rejects.toMatchObject(refused('PreconditionFailed', 412))
    expect((await read('k')).toString()).toBe('first')
    await send({ IfMatch: ETag })
    expect((await read('k')).toString()).toBe('second')
  })
})

describe('lists', () => {
  test('go by prefix, delimiter and page', async () => {
    for (const key of ['a/1', 'a/2', 'a/b/1', 'a/b/2', 'a/c/1', 'b', 'ä', '💥', '\uffee']) await put(key)
    const list = (more: object) => s3.send(new ListObjectsV2Command({ Bucket, ...more }))
    const keys = (page: { Contents?: { Key?: string }[] }) => (page.Contents ?? []).map(({ Key }) => Key)

    const grouped = await list({ Prefix: 'a/', Delimiter: '/' })
    expect(keys(grouped)).toEqual(['a/1', 'a/2'])
    expect(grouped.CommonPrefixes).toEqual([{ Prefix: 'a/b/' }, { Prefix: 'a/c/' }])
    expect(grouped).toMatchObject({ KeyCount: 4, IsTruncated: false })

    const found: unknown[] = []
    let token: string | undefined
    do {
      const page = await list({ Prefix: 'a/', Delimiter: '/', MaxKeys: 1, ContinuationToken: token })
      found.push(...keys(page), ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix))
      token = page.NextContinuationToken
    } while (token !== undefined)
    expect(found).toEqual(['a/1', 'a/2', 'a/b/', 'a/c/'])
    // By bytes: 💥 comes last, although its first UTF-16 unit is smaller than \uffee.
    expect(keys(await list({ StartAfter: 'b' }))).toEqual(['ä', '\uffee', '💥'])
    await expect(list({ ContinuationToken: '%' })).rejects.toMatchObject(refused('InvalidArgument', 400))
  })

  test('of open uploads and their parts, in pages', async () => {
    const uploads = [await begin('k/1'), await begin('k/1'), await begin('k/2')]
    await part('k/2', uploads[2]!, 2, 10)
    await part('k/2', uploads[2]!, 1, 20)
    const found: unknown[] = []
    let KeyMarker: string | undefined
    let UploadIdMarker: string | undefined
    do {
      const page = await s3.send(
        new ListMultipartUploadsCommand({ Bucket, Prefix: 'k/', MaxUploads: 1, KeyMarker, UploadIdMarker }),
      )
      found.push(...(page.Uploads ?? []).map(({ UploadId }) => UploadId))
      KeyMarker = page.NextKeyMarker
      UploadIdMarker = page.NextUploadIdMarker
    } while (KeyMarker !== undefined)
    expect(found).toEqual([...uploads.slice(0, 2).toSorted(), uploads[2]])
    const parts = await s3.send(new ListPartsCommand({ Bucket, Key: 'k/2', UploadId: uploads[2]! }))
    expect(parts.Parts!.map(({ PartNumber, Size }) => [PartNumber, Size])).toEqual([
      [1, 20],
      [2, 10],
    ])
  })
})

describe('multipart uploads', () => {
  test('become an object when they are completed, with the ETag of their parts', async () => {
    const id = await begin('k')
    const parts = [await part('k', id, 1, PART), await part('k', id, 2, 3)]
    await expect(read('k')).rejects.toMatchObject(refused('NoSuchKey', 404))
    const { ETag } = await complete('k', id, parts)
    const hashes = parts.map(({ ETag: etag }) => Buffer.from(etag!.replaceAll('"', ''), 'hex'))
    expect(ETag).toBe(`"${createHash('md5').update(Buffer.concat(hashes)).digest('hex')}-2"`)
    const whole = Buffer.concat([Buffer.alloc(PART, 1), Buffer.alloc(3, 2)])
    expect((await read('k')).equals(whole)).toBe(true)
    await expect(complete('k', id, parts)).rejects.toMatchObject(refused('NoSuchUpload', 404))
  })

  test('are refused for small parts, wrong order, unknown parts and wrong names', async () => {
    const id = await begin('k')
    const [one, two] = [await part('k', id, 1, PART - 1), await part('k', id, 2, 3)]
    await expect(complete('k', id, [one, two])).rejects.toMatchObject(refused('EntityTooSmall', 400))
    await expect(complete('k', id, [two, one])).rejects.toMatchObject(refused('InvalidPartOrder', 400))
    await expect(complete('k', id, [{ ...two, PartNumber: 3 }])).rejects.toMatchObject(
      refused('InvalidPart', 400),
    )
    await expect(complete('k', id, [{ ETag: one.ETag, PartNumber: 2 }])).rejects.toMatchObject(
      refused('InvalidPart', 400),
    )
    await expect(complete('k', id, [])).rejects.toMatchObject(refused('MalformedXML', 400))
    await expect(complete('other', id, [two])).rejects.toMatchObject(refused('NoSuchUpload', 404))
    await expect(part('k', id, 10_001, 1)).rejects.toMatchObject(refused('InvalidArgument', 400))
    expect(server.buckets.get(Bucket)!.objects.size).toBe(0)
  })

  test('are gone once aborted', async () => {
    const id = await begin('k')
    const one = await part('k', id, 1, 1)
    const abort = () => s3.send(new AbortMultipartUploadCommand({ Bucket, Key: 'k', UploadId: id }))
    await abort()
    await expect(abort()).rejects.toMatchObject(refused('NoSuchUpload', 404))
    await expect(complete('k', id, [one])).rejects.toMatchObject(refused('NoSuchUpload', 404))
    await expect(part('k', id, 2, 1)).rejects.toMatchObject(refused('NoSuchUpload', 404))
  })
})
