// What an app made of an event, against the event as it was: the patch that leads from one to the other.
import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { PlainOutcome } from '../messages.ts'
import { AppFault } from '../sandbox.ts'

/** `text` is the event as the app got it, `result` what came back. Throws AppFault of the kind `result`. */
export function readOutcome(text: string, result: unknown): PlainOutcome {
  if (result === null) return { kind: 'dropped' }
  if (!isObject(result)) throw new AppFault('result', 'the event is not an object')
  if (!isObject(result.properties)) {
    throw new AppFault('result', 'the properties of the event are not an object')
  }
  const original = JSON.parse(text) as JsonObject
  if (result.team_id !== original.team_id) {
    throw new AppFault('result', 'the team_id of an event cannot be changed')
  }
  const old_properties = isObject(original.properties) ? original.properties : {}
  const patch = {
    ...changesBetween(original, result, KEPT),
    properties: changesBetween(old_properties, result.properties),
  }
  return isEmpty(patch) && isEmpty(patch.properties) ? { kind: 'unchanged' } : { kind: 'changed', patch }
}

type Changes = { set: JsonObject; unset: string[] }

/** The one cannot be changed, the other is looked at by itself. */
const KEPT = new Set(['uuid', 'properties'])

function changesBetween(old: JsonObject, now: JsonObject, except?: ReadonlySet<string>): Changes {
  const set: JsonObject = Object.create(null)
  for (const key of Object.keys(now)) {
    if (!isSame(now[key], old[key]) && !except?.has(key)) set[key] = now[key]
  }
  const unset = Object.keys(old).filter((key) => !Object.hasOwn(now, key) && !except?.has(key))
  return { set, unset }
}

/** JSON has no undefined: what is missing differs from everything. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && typeof b === 'object' && isDeepStrictEqual(a, b))
}

const isEmpty = ({ set, unset }: Changes) => unset.length === 0 && Object.keys(set).length === 0
