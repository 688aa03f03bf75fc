// What is kept of a fault: short enough to store by the hundred, whatever an app throws.
import type { JsonObject } from '../../../lib/json-object.ts'
import { storableText } from '../../../lib/storable-text.ts'
import type { Redactor } from '../../../platform/secrets/redactor.ts'
import type { AppFault } from '../../../platform/sandbox/sandbox.ts'

const MAX_NAME_BYTES = 200
const MAX_TEXT_BYTES = 10 * 1024
/** What tells which event it was, for one that is too long to be kept. */
const IDENTITY = ['uuid', 'event', 'distinct_id', 'timestamp'] as const

/** `details` is JSON text, `{error, event}`: the event may change before it is written. */
export function describeFault(
  redactor: Redactor,
  { error }: AppFault,
  event: JsonObject | null,
): { error_type: string; details: string } {
  const told = (text: string, max_bytes: number) => storableText(redactor.clean(text), max_bytes)
  const name = told(error.name, MAX_NAME_BYTES) || 'Error'
  const message = told(error.message, MAX_TEXT_BYTES)
  const stack = told(error.stack, MAX_TEXT_BYTES)
  const details = { error: { name, message, stack }, event: event && cutEvent(redactor.cleanJson(event)) }
  return { error_type: name, details: JSON.stringify(details) }
}

function cutEvent(event: JsonObject): JsonObject {
  const json = JSON.stringify(event)
  if (Buffer.byteLength(json) <= MAX_TEXT_BYTES) return event
  const cut: JsonObject = {}
  for (const name of IDENTITY) {
    const value = event[name]
    if (value !== undefined)
      cut[name] = storableText(typeof value === 'string' ? value : JSON.stringify(value), MAX_NAME_BYTES)
  }
  return { ...cut, cut: storableText(json, MAX_TEXT_BYTES) }
}
