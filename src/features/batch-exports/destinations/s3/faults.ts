// What an error of S3 means for a run, in plain words: codes are S3's own, its messages are not passed on, because a
// store may repeat headers and signatures in them.
import { errorCode } from '../../../../lib/error-code.ts'
import { connectionFault } from '../connection-faults.ts'
import { Passing, Refused, Unreachable } from '../destination.ts'

const PASSING = new Set([
  'RequestTimeout',
  'SlowDown',
  'ServiceUnavailable',
  'InternalError',
  'OperationAborted',
  'NoSuchUpload',
  'BadDigest',
  'IncompleteBody',
])

const WORDS: Record<string, string> = {
  NoSuchBucket: 'The bucket does not exist. Create it, or correct `bucket_name`.',
  AccessDenied:
    'Access denied: the credentials may not do this in the bucket. Allow them s3:PutObject and s3:AbortMultipartUpload.',
  InvalidAccessKeyId: 'The access key is not known to S3. Send one that is, with its secret.',
  SignatureDoesNotMatch: 'The secret access key does not belong to the access key. Send both again.',
  PermanentRedirect:
    'The bucket is in another region, or behind another endpoint. Correct `region` or `endpoint_url`.',
  AuthorizationHeaderMalformed: 'The bucket is in another region. Correct `region`.',
  RequestTimeTooSkewed:
    'The clocks of this server and of S3 differ too much. Ask the operator of this server to set its clock.',
  KeyTooLongError: 'The file names are longer than S3 allows. Use a shorter prefix.',
}

export function s3Fault(error: unknown): Error {
  const connection = connectionFault(errorCode(error), 'The S3 endpoint')
  if (connection) return connection
  const code = error instanceof Error && /^[A-Za-z]{1,64}$/.test(error.name) ? error.name : 'unknown error'
  const status = statusOf(error)
  if (status === null) return code === 'TimeoutError' ? new Passing('S3 took too long to answer.') : notS3()
  if (PASSING.has(code) || status === 408 || status === 429 || (status >= 500 && status !== 501)) {
    return new Passing(`S3 could not take the request just now (${code}, status ${status}).`)
  }
  if (status < 400 && code !== 'PermanentRedirect') return notS3()
  return new Refused(
    WORDS[code] ?? `S3 refused the request (${code}, status ${status}). Its documentation explains the code.`,
  )
}

/** S3 has two names for it: NoSuchKey with a body, NotFound without. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && ['NoSuchKey', 'NotFound'].includes(error.name)
}

/** Whether an upload was completed or aborted before, or its bucket no longer exists. */
export function isGone(error: unknown): boolean {
  return error instanceof Error && ['NoSuchUpload', 'NoSuchBucket'].includes(error.name)
}

export function isAccessDenied(error: unknown): boolean {
  return error instanceof Error && error.name === 'AccessDenied'
}

/** Also for an answer that lacks what S3 always says: any web server answers 200 to something. */
export function notS3(): Unreachable {
  return new Unreachable(
    'The S3 endpoint is not valid, or what answers there is not S3. Check `endpoint_url` and `region`.',
  )
}

function statusOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('$metadata' in error)) return null
  const { httpStatusCode } = error.$metadata as { httpStatusCode?: number }
  return httpStatusCode ?? null
}
