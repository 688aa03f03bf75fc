// Parts of an answer that fail one by one: what is wrong with one does not hide the others.
import { Refused } from '../destinations/destination.ts'
import { ApiError, toApiError } from '../../../platform/http/errors.ts'
import { asApiError } from '../../events/run-query.ts'

export type Outcome<Value> = { value: Value } | { error: ApiError }

/** What the request is at fault for, or the store is too busy for, becomes the part's error. Anything else is thrown. */
export async function attempt<Value>(work: () => Value | Promise<Value>): Promise<Outcome<Value>> {
  try {
    return { value: await work() }
  } catch (error) {
    if (error instanceof Refused) return { error: new ApiError('invalid_input', error.message) }
    const told = toApiError(asApiError(error))
    if (told.code === 'error') throw error
    return { error: told }
  }
}

/** For parts that build on another: its error is theirs. */
export function valueOf<Value>(outcome: Outcome<Value>): Value {
  if ('error' in outcome) throw outcome.error
  return outcome.value
}
