// What the stand-in holds, in memory, and the rules of S3 about it.
import { createHash, randomBytes } from 'node:crypto'
import { invalidArgument, noSuchUpload, S3Fault } from './faults.ts'
import type { NamedPart } from './xml.ts'

export type Encryption = { algorithm: string; kms_key_id: string | null } | null

/** What a client says of an object when it begins to write it. */
export type Marks = { metadata: Record<string, string>; content_type: string; encryption: Encryption }

export type StoredObject = Marks & { content: Buffer; etag: string; modified_at: Date }
export type StoredPart = { content: Buffer; etag: string; modified_at: Date }
export type Upload = Marks & { id: string; key: string; parts: Map<number, StoredPart>; begun_at: Date }
export type Bucket = { objects: Map<string, StoredObject>; uploads: Map<string, Upload> }

export type Condition = { if_match: string | null; if_none_match: string | null }

const MIN_PART_BYTES = 5 * 1024 * 1024
const MAX_PART_NUMBER = 10_000

export function newBucket(): Bucket {
  return { objects: new Map(), uploads: new Map() }
}

export function putObject(
  bucket: Bucket,
  key: string,
  content: Buffer,
  marks: Marks,
  condition: Condition,
  now: Date,
): StoredObject {
  checkCondition(bucket, key, condition)
  const object = { ...marks, content, etag: md5(content), modified_at: now }
  bucket.objects.set(key, object)
  return object
}

export function beginUpload(bucket: Bucket, key: string, marks: Marks, now: Date): Upload {
  const upload = { ...marks, id: randomBytes(16).toString('hex'), key, parts: new Map(), begun_at: now }
  bucket.uploads.set(upload.id, upload)
  return upload
}

export function findUpload(bucket: Bucket, key: string, id: string): Upload {
  const upload = bucket.uploads.get(id)
  if (upload?.key !== key) throw noSuchUpload()
  return upload
}

export function putPart(upload: Upload, number: number, content: Buffer, now: Date): StoredPart {
  if (!Number.isInteger(number) || number < 1 || number > MAX_PART_NUMBER) throw invalidArgument('partNumber')
  const part = { content, etag: md5(content), modified_at: now }
  upload.parts.set(number, part)
  return part
}

export function completeUpload(
  bucket: Bucket,
  upload: Upload,
  named: readonly NamedPart[],
  condition: Condition,
  now: Date,
): StoredObject {
  if (named.some(({ number }, index) => index > 0 && number <= named[index - 1]!.number)) {
    throw new S3Fault('InvalidPartOrder', 400)
  }
  const parts = named.map(({ number, etag }) => {
    const part = upload.parts.get(number)
    if (part?.etag !== etag) throw new S3Fault('InvalidPart', 400)
    return part
  })
  if (parts.slice(0, -1).some(({ content }) => content.length < MIN_PART_BYTES)) {
    throw new S3Fault('EntityTooSmall', 400)
  }
  checkCondition(bucket, upload.key, condition)
  const { metadata, content_type, encryption } = upload
  const hashes = Buffer.concat(parts.map(({ etag }) => Buffer.from(etag, 'hex')))
  const object = {
    metadata,
    content_type,
    encryption,
    content: Buffer.concat(parts.map(({ content }) => content)),
    etag: `${md5(hashes)}-${parts.length}`,
    modified_at: now,
  }
  bucket.objects.set(upload.key, object)
  bucket.uploads.delete(upload.id)
  return object
}

function checkCondition(bucket: Bucket, key: string, { if_match, if_none_match }: Condition): void {
  const there = bucket.objects.get(key)
  if (if_none_match !== null && if_none_match !== '*') throw new S3Fault('NotImplemented', 501)
  if (if_none_match === '*' && there) throw new S3Fault('PreconditionFailed', 412)
  if (if_match === null) return
  if (!there) throw new S3Fault('NoSuchKey', 404)
  if (if_match.replaceAll('"', '') !== there.etag) throw new S3Fault('PreconditionFailed', 412)
}

function md5(content: Buffer): string {
  return createHash('md5').update(content).digest('hex')
}
