// The yardsticks: DuckDB alone on the same files, while nobody else has them open, with the same memory and cores; and
// Amazon's client alone for what goes to S3.
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { DuckDBConnection } from '@duckdb/node-api'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { tablesOf } from '../../../src/platform/event-store/layout.ts'
import { onProjectFiles } from '../../../test/harness/project-files.ts'
import { MEMORY_MB, type SampleStore } from './sample-store.ts'

/** What exports to files hold, as the engine has it; `json` is the type of JSON columns. */
export function selectColumns({ project_id }: SampleStore, times: string, json: string): string {
  return `SELECT uuid::VARCHAR AS uuid, timestamp::${times} AS timestamp, inserted_at::${times} AS _inserted_at,
      created_at::${times} AS created_at, event, properties::${json} AS properties, distinct_id, elements_chain,
      person_properties::${json} AS person_properties, person_id::VARCHAR AS person_id
    FROM ${tablesOf(project_id).events}`
}

export function onFiles<T>(
  { folder, project_id }: SampleStore,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const options = {
    memory_limit: `${MEMORY_MB}MB`,
    threads: String(availableParallelism()),
    temp_directory: join(folder, 'bare-spill'),
  }
  return onProjectFiles(folder, project_id, options, work)
}

export type Bucket = {
  endpoint_url: string
  region: string
  bucket_name: string
  aws_access_key_id: string
  aws_secret_access_key: string
}

const PART_BYTES = 50 * 1024 * 1024
const AT_ONCE = 5

export function openClient(bucket: Bucket): S3Client {
  return new S3Client({
    endpoint: bucket.endpoint_url,
    region: bucket.region,
    forcePathStyle: true,
    credentials: {
      accessKeyId: bucket.aws_access_key_id,
      secretAccessKey: bucket.aws_secret_access_key,
    },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}

/** In parts of the same size as exports, and as many at once. */
export async function upload(bucket: Bucket, key: string, path: string): Promise<void> {
  const client = openClient(bucket)
  const place = { Bucket: bucket.bucket_name, Key: key }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(place))
  const { size } = await stat(path)
  const numbers = Array.from({ length: Math.ceil(size / PART_BYTES) }, (_, index) => index + 1)
  const parts: { PartNumber: number; ETag: string | undefined }[] = []
  const waiting = numbers.values()
  const send = async () => {
    for (const PartNumber of waiting) {
      const start = (PartNumber - 1) * PART_BYTES
      const end = Math.min(start + PART_BYTES, size)
      const Body = createReadStream(path, { start, end: end - 1 })
      const part = { ...place, UploadId, PartNumber, Body, ContentLength: end - start }
      const { ETag } = await client.send(new UploadPartCommand(part))
      parts[PartNumber - 1] = { PartNumber, ETag }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, send))
  await client.send(
    new CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload: { Parts: parts } }),
  )
  client.destroy()
}
