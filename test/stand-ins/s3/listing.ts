// The three lists of S3, with their paging.
import { invalidArgument } from './faults.ts'
import type { Bucket, Upload } from './store.ts'
import type { Content } from './xml.ts'

export type Query = ReadonlyMap<string, string>

const MAX_PAGE = 1000

export function listObjects(name: string, bucket: Bucket, query: Query): Content {
  const prefix = query.get('prefix') ?? ''
  const delimiter = query.get('delimiter') ?? ''
  const token = query.get('continuation-token')
  const after = token === undefined ? (query.get('start-after') ?? '') : readToken(token)
  const limit = pageSize(query.get('max-keys'), 'max-keys')
  const entries = groupByDelimiter(sortedKeys(bucket.objects.keys()), prefix, delimiter).filter(
    ({ last }) => compare(last, after) > 0,
  )
  const page = entries.slice(0, limit)
  const is_truncated = limit > 0 && entries.length > page.length
  return {
    Name: name,
    Prefix: prefix,
    Delimiter: delimiter || null,
    MaxKeys: limit,
    KeyCount: page.length,
    IsTruncated: is_truncated,
    ContinuationToken: token,
    NextContinuationToken: is_truncated ? makeToken(page.at(-1)!.last) : null,
    Contents: page.filter(({ is_group }) => !is_group).map(({ key }) => describeObject(bucket, key)),
    CommonPrefixes: page.filter(({ is_group }) => is_group).map(({ key }) => ({ Prefix: key })),
  }
}

export function listUploads(name: string, bucket: Bucket, query: Query): Content {
  const prefix = query.get('prefix') ?? ''
  const limit = pageSize(query.get('max-uploads'), 'max-uploads')
  const marker = [query.get('key-marker') ?? '', query.get('upload-id-marker') ?? ''] as const
  const uploads = [...bucket.uploads.values()]
    .filter(({ key }) => key.startsWith(prefix))
    .toSorted((a, b) => compare(a.key, b.key) || compare(a.id, b.id))
    .filter(
      ({ key, id }) =>
        compare(key, marker[0]) > 0 || (key === marker[0] && marker[1] !== '' && compare(id, marker[1]) > 0),
    )
  const page = uploads.slice(0, limit)
  const is_truncated = uploads.length > page.length
  return {
    Bucket: name,
    Prefix: prefix,
    MaxUploads: limit,
    IsTruncated: is_truncated,
    NextKeyMarker: is_truncated ? page.at(-1)?.key : null,
    NextUploadIdMarker: is_truncated ? page.at(-1)?.id : null,
    Upload: page.map(({ key, id, begun_at }) => ({
      Key: key,
      UploadId: id,
      Initiated: begun_at.toISOString(),
    })),
  }
}

export function listParts(name: string, upload: Upload, query: Query): Content {
  const limit = pageSize(query.get('max-parts'), 'max-parts')
  const marker = Number(query.get('part-number-marker') ?? 0)
  const parts = [...upload.parts].toSorted(([a], [b]) => a - b).filter(([number]) => number > marker)
  const page = parts.slice(0, limit)
  const is_truncated = parts.length > page.length
  return {
    Bucket: name,
    Key: upload.key,
    UploadId: upload.id,
    MaxParts: limit,
    IsTruncated: is_truncated,
    NextPartNumberMarker: is_truncated ? page.at(-1)?.[0] : null,
    Part: page.map(([number, { content, etag, modified_at }]) => ({
      PartNumber: number,
      LastModified: modified_at.toISOString(),
      ETag: `"${etag}"`,
      Size: content.length,
    })),
  }
}

/** `last` is the last key that an entry stands for: a page goes on after it. */
type Entry = { key: string; is_group: boolean; last: string }

function groupByDelimiter(keys: readonly string[], prefix: string, delimiter: string): Entry[] {
  const entries: Entry[] = []
  for (const key of keys) {
    if (!key.startsWith(prefix)) continue
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
    if (at === -1) {
      entries.push({ key, is_group: false, last: key })
      continue
    }
    const group = key.slice(0, at + delimiter.length)
    const open = entries.at(-1)
    if (open?.is_group && open.key === group) open.last = key
    else entries.push({ key: group, is_group: true, last: key })
  }
  return entries
}

function describeObject(bucket: Bucket, key: string): Content {
  const { content, etag, modified_at } = bucket.objects.get(key)!
  return {
    Key: key,
    LastModified: modified_at.toISOString(),
    ETag: `"${etag}"`,
    Size: content.length,
    StorageClass: 'STANDARD',
  }
}

function pageSize(text: string | undefined, name: string): number {
  if (text === undefined) return MAX_PAGE
  if (!/^\d+$/.test(text)) throw invalidArgument(name)
  return Math.min(Number(text), MAX_PAGE)
}

const makeToken = (key: string) => Buffer.from(key).toString('base64url')

function readToken(token: string): string {
  const key = Buffer.from(token, 'base64url').toString()
  if (makeToken(key) !== token) throw invalidArgument('continuation-token')
  return key
}

const sortedKeys = (keys: Iterable<string>) => [...keys].toSorted(compare)

/** By bytes, not by UTF-16. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
