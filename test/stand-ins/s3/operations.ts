// Which call a request is, and what it does to a bucket.
import { accessDenied, invalidArgument, noSuchKey, notImplemented, S3Fault } from './faults.ts'
import { listObjects, listParts, listUploads, type Query } from './listing.ts'
import {
  beginUpload,
  completeUpload,
  findUpload,
  putObject,
  putPart,
  type Bucket,
  type Condition,
  type Encryption,
  type Marks,
  type StoredObject,
} from './store.ts'
import { document, parseParts } from './xml.ts'

export type BucketCall = {
  method: string
  bucket_name: string
  bucket: Bucket
  key: string
  query: Query
  headers: Readonly<Record<string, string>>
  body: Buffer
  now: Date
}

export type Answer = { status: number; headers?: Record<string, string>; body?: string | Buffer }

type Operation = (call: BucketCall) => Answer

const xml = (name: string, content: Parameters<typeof document>[1]): Answer => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  body: document(name, content),
})

const OPERATIONS = {
  HeadBucket: () => ({ status: 200 }),
  ListObjectsV2: ({ bucket_name, bucket, query }) =>
    xml('ListBucketResult', listObjects(bucket_name, bucket, query)),
  ListMultipartUploads: ({ bucket_name, bucket, query }) =>
    xml('ListMultipartUploadsResult', listUploads(bucket_name, bucket, query)),
  PutObject({ bucket, key, body, headers, now }) {
    const object = putObject(bucket, key, body, marksOf(headers), conditionOf(headers), now)
    return { status: 200, headers: { etag: `"${object.etag}"`, ...encryptionHeaders(object.encryption) } }
  },
  GetObject({ bucket, key }) {
    const object = findObject(bucket, key)
    return { status: 200, headers: objectHeaders(object), body: object.content }
  },
  HeadObject({ bucket, key }) {
    const object = findObject(bucket, key)
    return { status: 200, headers: objectHeaders(object) }
  },
  DeleteObject({ bucket, key }) {
    bucket.objects.delete(key)
    return { status: 204 }
  },
  CreateMultipartUpload({ bucket_name, bucket, key, headers, now }) {
    const upload = beginUpload(bucket, key, marksOf(headers), now)
    const content = { Bucket: bucket_name, Key: key, UploadId: upload.id }
    const answer = xml('InitiateMultipartUploadResult', content)
    return { ...answer, headers: { ...answer.headers, ...encryptionHeaders(upload.encryption) } }
  },
  UploadPart({ bucket, key, query, body, now }) {
    const upload = findUpload(bucket, key, query.get('uploadId')!)
    const { etag } = putPart(upload, Number(query.get('partNumber')), body, now)
    return { status: 200, headers: { etag: `"${etag}"`, ...encryptionHeaders(upload.encryption) } }
  },
  ListParts({ bucket_name, bucket, key, query }) {
    return xml(
      'ListPartsResult',
      listParts(bucket_name, findUpload(bucket, key, query.get('uploadId')!), query),
    )
  },
  CompleteMultipartUpload({ bucket_name, bucket, key, query, headers, body, now }) {
    const upload = findUpload(bucket, key, query.get('uploadId')!)
    const parts = parseParts(body.toString())
    const object = completeUpload(bucket, upload, parts, conditionOf(headers), now)
    return xml('CompleteMultipartUploadResult', { Bucket: bucket_name, Key: key, ETag: `"${object.etag}"` })
  },
  AbortMultipartUpload({ bucket, key, query }) {
    bucket.uploads.delete(findUpload(bucket, key, query.get('uploadId')!).id)
    return { status: 204 }
  },
} satisfies Record<string, Operation>

export type OperationName = keyof typeof OPERATIONS

export function perform(name: OperationName, call: BucketCall): Answer {
  return OPERATIONS[name](call)
}

/** Parameters that only shape an answer, or name what is meant. */
const SHAPING = new Set([
  'prefix',
  'delimiter',
  'max-keys',
  'continuation-token',
  'start-after',
  'max-uploads',
  'key-marker',
  'upload-id-marker',
  'max-parts',
  'part-number-marker',
  'x-id',
])

export function nameOperation(method: string, key: string, query: Query): OperationName {
  const [choice, ...more] = [...query.keys()].filter((name) => !SHAPING.has(name)).toSorted()
  const is = [method, key === '' ? 'bucket' : 'object', choice ?? '', ...more].join(' ').trim()
  const name = NAMES[is]
  if (name === undefined) throw notImplemented(is)
  if (is === 'GET bucket list-type' && query.get('list-type') !== '2') throw invalidArgument('list-type')
  return name
}

const NAMES: Record<string, OperationName> = {
  'HEAD bucket': 'HeadBucket',
  'GET bucket list-type': 'ListObjectsV2',
  'GET bucket uploads': 'ListMultipartUploads',
  'PUT object': 'PutObject',
  'GET object': 'GetObject',
  'HEAD object': 'HeadObject',
  'DELETE object': 'DeleteObject',
  'POST object uploads': 'CreateMultipartUpload',
  'PUT object partNumber uploadId': 'UploadPart',
  'GET object uploadId': 'ListParts',
  'POST object uploadId': 'CompleteMultipartUpload',
  'DELETE object uploadId': 'AbortMultipartUpload',
}

function findObject(bucket: Bucket, key: string): StoredObject {
  const object = bucket.objects.get(key)
  if (!object) throw noSuchKey()
  return object
}

function marksOf(headers: Readonly<Record<string, string>>): Marks {
  const metadata = Object.entries(headers)
    .filter(([name]) => name.startsWith('x-amz-meta-'))
    .map(([name, value]) => [name.slice('x-amz-meta-'.length), value])
  return {
    metadata: Object.fromEntries(metadata),
    content_type: headers['content-type'] ?? 'binary/octet-stream',
    encryption: encryptionOf(headers),
  }
}

function encryptionOf(headers: Readonly<Record<string, string>>): Encryption {
  const algorithm = headers['x-amz-server-side-encryption']
  const kms_key_id = headers['x-amz-server-side-encryption-aws-kms-key-id'] ?? null
  if (kms_key_id !== null && algorithm !== 'aws:kms') throw invalidArgument('a KMS key without aws:kms')
  if (algorithm === undefined) return null
  if (!['AES256', 'aws:kms'].includes(algorithm)) throw new S3Fault('InvalidEncryptionAlgorithmError', 400)
  return { algorithm, kms_key_id }
}

function conditionOf(headers: Readonly<Record<string, string>>): Condition {
  return { if_match: headers['if-match'] ?? null, if_none_match: headers['if-none-match'] ?? null }
}

function encryptionHeaders(encryption: Encryption): Record<string, string> {
  if (!encryption) return {}
  const { algorithm, kms_key_id } = encryption
  return {
    'x-amz-server-side-encryption': algorithm,
    ...(kms_key_id === null ? {} : { 'x-amz-server-side-encryption-aws-kms-key-id': kms_key_id }),
  }
}

function objectHeaders(object: StoredObject): Record<string, string> {
  const marks = Object.entries(object.metadata).map(([name, value]) => [`x-amz-meta-${name}`, value])
  return {
    ...(Object.fromEntries(marks) as Record<string, string>),
    'content-type': object.content_type,
    'content-length': String(object.content.length),
    'last-modified': object.modified_at.toUTCString(),
    etag: `"${object.etag}"`,
    ...encryptionHeaders(object.encryption),
  }
}

export function assertAllowed(name: OperationName, denied: ReadonlySet<OperationName>): void {
  if (denied.has(name)) throw accessDenied(name)
}
