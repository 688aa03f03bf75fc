// What cannot be read back at the moment: nobody answers, or access is refused. The rest is verified all the same.
import { errorCode } from '../../../../lib/error-code.ts'
import { classifyFailure } from '../../engine/classify-failure.ts'

/** The message is the destination's own and may hold secrets: clean it before anybody sees it. */
export class OutOfReach extends Error {}

/** What went wrong in an exchange with a destination. Faults of our own stay what they are. */
export function reachFault(error: unknown): unknown {
  const verdict = classifyFailure(error)
  if (verdict.kind !== 'ours') return new OutOfReach(verdict.message)
  // An error of a socket, or of a statement that a database refused.
  return error instanceof Error && errorCode(error) !== '' ? new OutOfReach(error.message) : error
}
