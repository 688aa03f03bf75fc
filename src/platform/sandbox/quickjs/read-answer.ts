// What a guest answered to a call, or the fault it tells of.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import { MAX_RESULT_LENGTH } from '../limits.ts'
import { AppFault } from '../sandbox.ts'
import { parseUntrusted } from './untrusted.ts'

/** Throws AppFault. */
export function readAnswer(text: string): JsonObject {
  if (text.length > MAX_RESULT_LENGTH)
    throw new AppFault('result', 'what came back is larger than a megabyte')
  const answer = parse(text)
  if (!isObject(answer)) throw new AppFault('result', 'what came back cannot be read, or is nested too deep')
  if (isObject(answer.thrown)) throw readThrown(answer.thrown)
  return answer
}

function parse(text: string): unknown {
  try {
    return parseUntrusted(text)
  } catch {
    return undefined
  }
}

function readThrown({ name, message, stack, may_retry }: JsonObject): AppFault {
  const isMemory = name === 'InternalError' && message === 'out of memory'
  return new AppFault(isMemory ? 'memory' : 'threw', String(message), {
    name: String(name),
    stack: String(stack),
    may_retry: may_retry === true,
  })
}
