// An export to S3 from end to end beside a COPY and the upload of its file by Amazon's client, both to the same stand-in.
import { DeleteObjectCommand, GetObjectCommand } from '@aws-sdk/client-s3'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { openClient, selectColumns, type Bucket } from './bare.ts'
import { compare, ROUNDS } from './compare.ts'
import { assertSame, parquetContent, sha256Of } from './content.ts'
import { copy, exportTo, startS3 } from './order.ts'
import type { SampleStore } from './sample-store.ts'

const GOAL = 0.8
const KEY = 'bare.parquet'

export async function benchS3(store: SampleStore): Promise<boolean> {
  const { bucket, stop } = await startS3('exports')
  const path = join(store.folder, 'bare-copy')
  const select = selectColumns(store, 'TIMESTAMPTZ', 'VARCHAR')
  const sql = `COPY (${select}) TO '${path}' (FORMAT parquet, COMPRESSION zstd)`
  const config = { ...bucket, prefix: 'bench/{export_id}', file_format: 'Parquet', compression: 'zstd' }
  let content: string
  try {
    return await compare({
      name: 'S3, Parquet zstd',
      events: store.events,
      rounds: ROUNDS,
      goal: GOAL,
      async ours() {
        const exported = await exportTo(store, { type: 'S3', config })
        const [file] = exported.files
        if (!file || exported.files.length > 1)
          throw new Error(`${exported.files.length} files were delivered`)
        content = await takeBack(store, bucket, file)
        return exported
      },
      async bare() {
        const measured = await copy({ store, sql, upload: { bucket, key: KEY, path } })
        const sent = { name: KEY, sha256: await sha256Of(path) }
        await rm(path)
        assertSame('S3', content, await takeBack(store, bucket, sent))
        return measured
      },
    })
  } finally {
    await stop()
  }
}

/** Reads the object, checks it and removes it: the stand-in holds everything in memory. */
async function takeBack(
  { folder }: SampleStore,
  bucket: Bucket,
  file: { name: string; sha256: string },
): Promise<string> {
  const client = openClient(bucket)
  const place = { Bucket: bucket.bucket_name, Key: file.name }
  const path = join(folder, 'taken-back')
  try {
    const { Body } = await client.send(new GetObjectCommand(place))
    await pipeline(Body as Readable, createWriteStream(path))
    assertSame(file.name, await sha256Of(path), file.sha256)
    await client.send(new DeleteObjectCommand(place))
    return await parquetContent(path)
  } finally {
    client.destroy()
    await rm(path, { force: true })
  }
}
