// What an app made of an event, against the event as it was: the patch that leads from one to the other. The guest tells
// what it has touched, or everything (guest/watched-event.ts).
import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import { MAX_RESULT_LENGTH } from '../limits.ts'
import { readEventText, type SandboxEvent } from '../event-text.ts'
import type { PlainOutcome } from '../messages.ts'
import { AppFault, type EventPatch } from '../sandbox.ts'

/** `text` is the event as the app got it, `answer` what came back. Throws AppFault of the kind `result`. */
export function readOutcome(text: string, answer: JsonObject, answer_length: number): PlainOutcome {
  if (answer.event === null) return { kind: 'dropped' }
  const before = new EventText(text)
  const { touched } = answer
  const patch = isObject(touched) ? touchedPatch(before, touched) : wholePatch(before, answer)
  if (patch.set.team_id !== undefined || patch.unset.includes('team_id')) {
    throw new AppFault('result', 'the team_id of an event cannot be changed')
  }
  if (isEmpty(patch) && isEmpty(patch.properties)) return { kind: 'unchanged' }
  if (text.length + answer_length > MAX_RESULT_LENGTH && before.lengthWith(patch) > MAX_RESULT_LENGTH) {
    throw new AppFault('result', 'what came back is larger than a megabyte')
  }
  return { kind: 'changed', patch }
}

type Part = 'top' | 'properties'

/** Taken apart only when it has to be. */
class EventText {
  #event: SandboxEvent | undefined

  constructor(private readonly text: string) {}

  get event(): SandboxEvent {
    this.#event ??= readEventText(this.text)
    return this.#event
  }

  find(part: Part, name: string): unknown {
    // Most of what is set is new.
    if (this.#event === undefined && !this.text.includes(JSON.stringify(name))) return undefined
    const fields = part === 'top' ? this.event : this.event.properties
    return Object.hasOwn(fields, name) ? fields[name] : undefined
  }

  lengthWith({ set, unset, properties }: EventPatch): number {
    const after = without({ ...this.event, ...set }, unset)
    after.properties = without({ ...this.event.properties, ...properties.set }, properties.unset)
    return JSON.stringify(after).length
  }
}

type Changes = { set: JsonObject; unset: string[]; not_finite?: string[] }

function touchedPatch(before: EventText, touched: JsonObject): EventPatch {
  return {
    ...touchedChanges(before, touched, 'top'),
    properties: touchedChanges(before, touched, 'properties'),
  }
}

function touchedChanges(before: EventText, touched: JsonObject, part: Part): Changes {
  const changes: Changes = { set: Object.create(null) as JsonObject, unset: [] }
  const told = touched[part]
  if (!isObject(told) || !isObject(told.now)) return changes
  for (const name of Object.keys(told.now)) {
    if (!isSame(told.now[name], before.find(part, name)) && !isProperties(part, name))
      changes.set[name] = told.now[name]
  }
  for (const name of Array.isArray(told.gone) ? told.gone : []) {
    if (typeof name === 'string' && before.find(part, name) !== undefined && !isKept(part, name))
      changes.unset.push(name)
  }
  return { ...changes, ...notFiniteOf(told) }
}

function wholePatch({ event }: EventText, answer: JsonObject): EventPatch {
  const result = answer.event
  if (!isObject(result)) throw new AppFault('result', 'the event is not an object')
  if (!isObject(result.properties)) {
    throw new AppFault('result', 'the properties of the event are not an object')
  }
  return {
    ...changesBetween('top', event, result),
    properties: {
      ...changesBetween('properties', event.properties, result.properties),
      ...notFiniteOf(answer),
    },
  }
}

function notFiniteOf({ not_finite }: JsonObject): { not_finite?: string[] } {
  if (!Array.isArray(not_finite)) return {}
  return { not_finite: not_finite.filter((name): name is string => typeof name === 'string') }
}

/** It is looked at by itself. */
const isProperties = (part: Part, name: string) => part === 'top' && name === 'properties'
/** Nor can it be without: an app that makes a new event of the old one need not know of it. */
const isKept = (part: Part, name: string) => part === 'top' && (name === 'uuid' || name === 'properties')

function changesBetween(part: Part, old: JsonObject, now: JsonObject): Changes {
  const set: JsonObject = Object.create(null)
  for (const key of Object.keys(now)) {
    if (!isSame(now[key], old[key]) && !isProperties(part, key)) set[key] = now[key]
  }
  const unset = Object.keys(old).filter((key) => !Object.hasOwn(now, key) && !isKept(part, key))
  return { set, unset }
}

/** JSON has no undefined: what is missing differs from everything. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && typeof b === 'object' && isDeepStrictEqual(a, b))
}

const isEmpty = ({ set, unset }: { set: JsonObject; unset: readonly string[] }) =>
  unset.length === 0 && Object.keys(set).length === 0

function without(fields: JsonObject, names: readonly string[]): JsonObject {
  for (const name of names) delete fields[name]
  return fields
}
