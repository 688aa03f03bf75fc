// What an error of Azure means for a run, in plain words. Its own messages are not passed on: that of a wrong key holds
// the signature.
import { errorCode } from '../../../../lib/error-code.ts'
import { connectionFault } from '../connection-faults.ts'
import { Passing, Refused, Unreachable } from '../destination.ts'

const WORDS: Record<string, string> = {
  ContainerNotFound: 'The container does not exist. Create it, or correct `container_name`.',
  ContainerBeingDeleted: 'The container is being deleted. Use another.',
  AuthenticationFailed:
    'The account key does not belong to the account. Check `account_name` and send the key again.',
  AuthorizationFailure:
    'Access denied: the account may not be used from here. Let this server in through its firewall.',
  InvalidResourceName:
    'The name of the container or of the files is not valid. Correct `container_name` or `prefix`.',
  ResourceNotFound:
    'The account or the container does not exist. Correct `account_name` or `container_name`.',
}

export function azureFault(error: unknown): Error {
  const code = errorCode(error)
  const connection = connectionFault(code, 'The Azure endpoint')
  if (connection) return connection
  const status = statusOf(error)
  if (status === null || status < 400) {
    return new Unreachable(
      'The Azure endpoint is not valid, or what answers there is not Azure. Check `endpoint_url`.',
    )
  }
  const named = /^[A-Za-z]{1,64}$/.test(code) ? code : 'unknown error'
  if (status === 408 || status === 429 || (status >= 500 && status !== 501)) {
    return new Passing(`Azure could not take the request just now (${named}, status ${status}).`)
  }
  // A part that was damaged on the way, or whose blob another attempt has just finished.
  if (named === 'Md5Mismatch' || named === 'InvalidBlockList') {
    return new Passing(`Azure did not take a part of a file (${named}).`)
  }
  return new Refused(
    WORDS[named] ??
      `Azure refused the request (${named}, status ${status}). Its documentation explains the code.`,
  )
}

export function isMissing(error: unknown): boolean {
  return errorCode(error) === 'BlobNotFound'
}

function statusOf(error: unknown): number | null {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : null
}
