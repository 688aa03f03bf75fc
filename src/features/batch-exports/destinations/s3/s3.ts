// Delivers files to S3. Loaded when a run or a test needs it: the client alone takes some 20 MB of memory.
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import type { Destination, TestStep } from '../destination.ts'
import { deliverFiles, fileEncoding, fileNames } from '../file-delivery.ts'
import { trialName } from '../prefix.ts'
import { asking, openBucket, type Bucket } from './client.ts'
import { isAccessDenied, isMissing, notS3 } from './faults.ts'
import type { S3Config } from './kind.ts'
import { dropLeft, dropUploads, placeInBucket } from './place.ts'

const reachable: TestStep<S3Config> = {
  name: 'Bucket reachable',
  description: 'Asks the endpoint for the bucket with the credentials given.',
  run: ({ config, outbound, signal }) =>
    withBucket(config, outbound, async (bucket) => {
      const list = { Bucket: bucket.name, Prefix: trialName(config.prefix), MaxKeys: 1 }
      const found = await asking(signal, () =>
        bucket.client
          .send(new ListObjectsV2Command(list), { abortSignal: signal })
          .catch((error: unknown) => {
            // Credentials that may only write are good enough; the next step shows whether they are.
            if (isAccessDenied(error)) return null
            throw error
          }),
      )
      if (found !== null && found.Name === undefined) throw notS3()
    }),
}

const writable: TestStep<S3Config> = {
  name: 'Bucket writable',
  description: 'Puts a small object under the prefix and removes it.',
  run: ({ config, outbound, signal }) =>
    withBucket(config, outbound, async (bucket) => {
      const object = { Bucket: bucket.name, Key: trialName(config.prefix) }
      const put = new PutObjectCommand({ ...object, Body: '', ...bucket.encryption })
      const { ETag } = await asking(signal, () => bucket.client.send(put, { abortSignal: signal }))
      if (ETag === undefined) throw notS3()
      // Exports never delete, so credentials that may not are in order.
      await bucket.client.send(new DeleteObjectCommand(object)).catch(() => {})
    }),
}

export const s3: Destination<S3Config> = {
  encoding: fileEncoding,
  fileNames,
  steps: [reachable, writable],
  async open(context) {
    const bucket = openBucket(context.config, context.outbound)
    await dropLeft(bucket, context).catch((error: unknown) => {
      bucket.close()
      throw error
    })
    return deliverFiles(placeInBucket(bucket, context), context)
  },
  async inspect({ config, outbound, signal }) {
    const bucket = openBucket(config, outbound)
    return {
      files: {
        read: (name) => asking(signal, () => readObject(bucket, name, signal)),
        list: (folder) => listObjects(bucket, folder, signal),
      },
      close: async () => bucket.close(),
    }
  },
  async *sweep({ config, runs, outbound, signal }) {
    const uploads = runs.flatMap((run) => run.uploads)
    if (uploads.length === 0) return
    const bucket = openBucket(config, outbound)
    try {
      yield* dropUploads(bucket, uploads, signal)
    } finally {
      bucket.close()
    }
  },
}

async function readObject(bucket: Bucket, key: string, signal: AbortSignal) {
  const command = new GetObjectCommand({ Bucket: bucket.name, Key: key })
  try {
    const { Body } = await bucket.client.send(command, { abortSignal: signal })
    return (Body as AsyncIterable<Uint8Array> | undefined) ?? null
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

async function* listObjects(bucket: Bucket, folder: string, signal: AbortSignal): AsyncGenerator<string> {
  const place = { Bucket: bucket.name, Prefix: folder === '' ? '' : `${folder}/`, Delimiter: '/' }
  let ContinuationToken: string | undefined
  do {
    const command = new ListObjectsV2Command({ ...place, ContinuationToken })
    const page = await asking(signal, () => bucket.client.send(command, { abortSignal: signal }))
    if (page.Name === undefined) throw notS3()
    for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key
    ContinuationToken = page.NextContinuationToken
  } while (ContinuationToken !== undefined)
}

async function withBucket(
  config: S3Config,
  outbound: Outbound,
  work: (bucket: Bucket) => Promise<void>,
): Promise<void> {
  const bucket = openBucket(config, outbound)
  try {
    await work(bucket)
  } finally {
    bucket.close()
  }
}
