// A bucket as a place for files. Every file is a multipart upload, also a small one: it is at S3 as a whole before any
// of the run's files can be seen, and whoever ends the upload keeps it from ever being seen.
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { createHash } from 'node:crypto'
import { Passing, Refused, type DeliveryContext, type OpenUpload, type Removed } from '../destination.ts'
import { explainRemoval, type FilePlace, type StagedFile } from '../file-delivery.ts'
import { partOf, sendParts, type FilePart } from '../file-parts.ts'
import { tryAgain } from '../try-again.ts'
import { asking, type Bucket } from './client.ts'
import { isGone, notS3 } from './faults.ts'

type Upload = { Bucket: string; Key: string; UploadId: string }
/** Longer than any store's: the database keeps them, and the endpoint may be anybody's. */
const MAX_UPLOAD_ID = 2048

type Attempt = Pick<DeliveryContext, 'run' | 'signal' | 'log' | 'progress' | 'left_uploads'>

export function placeInBucket(bucket: Bucket, attempt: Attempt): FilePlace {
  return {
    stage: (key, file) =>
      stageUpload(bucket, key, file, attempt, (upload) =>
        sendParts(file, attempt.signal, (part, signal) => sendPart(bucket, upload, part, signal)),
      ),
    stageText(key, content) {
      const part = partOf(content)
      const sha256 = createHash('sha256').update(content).digest('hex')
      const made = { bytes: part.bytes, sha256, content_type: 'application/json' }
      return stageUpload(bucket, key, made, attempt, async (upload) => [
        await sendPart(bucket, upload, part, attempt.signal),
      ])
    },
    async remove(key) {
      // S3 answers the same whether it was there or not.
      const command = new DeleteObjectCommand({ Bucket: bucket.name, Key: key })
      const removed = asking(null, () => bucket.client.send(command))
      await removed.catch(explainRemoval(key, 's3:DeleteObject in the bucket'))
    },
    close: () => bucket.close(),
  }
}

/** What is kept with an object: what it must hold, for readers and for ourselves. */
type Made = { bytes: number; sha256: string; rows?: number; content_type?: string }

async function stageUpload(
  bucket: Bucket,
  key: string,
  made: Made,
  attempt: Attempt,
  send: (upload: Upload) => Promise<string[]>,
): Promise<StagedFile> {
  const { upload, tries } = await begin(bucket, key, made, attempt.signal)
  try {
    await attempt.progress.began({ name: key, id: upload.UploadId })
    // An attempt that died, or a try whose answer was lost, may have begun one as well.
    if (attempt.run.attempt > 1 || tries > 1) await dropOthers(bucket, upload, attempt)
    return staged(bucket, upload, await send(upload), made)
  } catch (error) {
    // Left to the next attempt, or to the sweep, if this fails as well.
    await drop(bucket, upload).catch(() => {})
    throw error
  }
}

async function begin(
  bucket: Bucket,
  key: string,
  { rows, sha256, content_type }: Made,
  signal: AbortSignal,
): Promise<{ upload: Upload; tries: number }> {
  const command = new CreateMultipartUploadCommand({
    Bucket: bucket.name,
    Key: key,
    Metadata: { ...(rows === undefined ? {} : { rows: String(rows) }), sha256 },
    ContentType: content_type,
    ...bucket.encryption,
  })
  const { UploadId, $metadata } = await asking(signal, () =>
    bucket.client.send(command, { abortSignal: signal }),
  )
  if (UploadId === undefined || UploadId.length > MAX_UPLOAD_ID) throw notS3()
  return { upload: { Bucket: bucket.name, Key: key, UploadId }, tries: $metadata.attempts ?? 1 }
}

/**
 * Before this attempt shows anything: an earlier one that was only asleep can then show nothing any more, whatever names its
 * files have.
 */
export async function dropLeft(bucket: Bucket, { left_uploads, signal, log }: Attempt): Promise<void> {
  await unlessRefused(log, async () => {
    for await (const { name } of dropUploads(bucket, left_uploads, signal))
      log('DEBUG', `The upload of ${name} that an earlier attempt left open was removed.`)
  })
}

/** Those that were begun and not written down are paid for and never seen. */
async function dropOthers(bucket: Bucket, ours: Upload, { signal, log }: Attempt): Promise<void> {
  await unlessRefused(log, async () => {
    // One page holds a thousand, all of this one file.
    const command = new ListMultipartUploadsCommand({ Bucket: bucket.name, Prefix: ours.Key })
    const { Uploads = [] } = await asking(signal, () => bucket.client.send(command, { abortSignal: signal }))
    for (const { Key, UploadId } of Uploads) {
      if (Key === ours.Key && UploadId !== ours.UploadId) await drop(bucket, { ...ours, UploadId: UploadId! })
    }
  })
}

/** Credentials that may not look for uploads, or end them, are good enough to export. */
async function unlessRefused(log: DeliveryContext['log'], work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    log('DEBUG', `Uploads that an earlier attempt left open were not removed: ${error.message}`)
  }
}

/** The client cannot repeat what it reads from a stream, so it is repeated here. */
async function sendPart(
  bucket: Bucket,
  upload: Upload,
  part: FilePart,
  signal: AbortSignal,
): Promise<string> {
  const { ETag } = await tryAgain(signal, () =>
    asking(signal, () =>
      bucket.client.send(
        new UploadPartCommand({
          ...upload,
          PartNumber: part.index + 1,
          Body: part.read(),
          ContentLength: part.bytes,
          ContentMD5: part.md5,
        }),
        { abortSignal: signal },
      ),
    ),
  )
  if (ETag === undefined) throw notS3()
  return ETag
}

function staged(bucket: Bucket, upload: Upload, etags: readonly string[], made: Made): StagedFile {
  const Parts = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }))
  const complete = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } })
  return {
    async publish() {
      try {
        await asking(null, () => bucket.client.send(complete))
      } catch (error) {
        // After a lost answer the client asks again, and the upload is no longer there.
        if (!(error instanceof Passing) || !(await isThere(bucket, upload.Key, made))) throw error
      }
    },
    drop: () => drop(bucket, upload),
  }
}

async function isThere(bucket: Bucket, key: string, made: Made): Promise<boolean> {
  const command = new HeadObjectCommand({ Bucket: bucket.name, Key: key })
  const found = await bucket.client.send(command).catch(() => null)
  return found?.ContentLength === made.bytes && found.Metadata?.sha256 === made.sha256
}

async function drop(bucket: Bucket, upload: Upload): Promise<void> {
  try {
    await asking(null, () => bucket.client.send(new AbortMultipartUploadCommand(upload)))
  } catch (error) {
    // NoSuchUpload among them: it was completed, or somebody else dropped it.
    if (!(error instanceof Passing)) throw error
  }
}

/** Ends the uploads with these ids and no others, whatever else goes on at the same keys. */
export async function* dropUploads(
  bucket: Bucket,
  uploads: readonly OpenUpload[],
  signal: AbortSignal,
): AsyncGenerator<Removed> {
  for (const { name, id } of uploads) {
    const upload = { Bucket: bucket.name, Key: name, UploadId: id }
    const was_open = await asking(signal, () =>
      bucket.client.send(new AbortMultipartUploadCommand(upload), { abortSignal: signal }).then(
        () => true,
        (error: unknown) => {
          if (isGone(error)) return false
          throw error
        },
      ),
    )
    if (was_open) yield { kind: 'unfinished upload', name }
  }
}
