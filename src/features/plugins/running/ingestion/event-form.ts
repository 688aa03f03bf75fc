// Events as processEvent knows them, and what it made of them.
import { isObject, type JsonObject } from '../../../../lib/json-object.ts'
import { formatMicros } from '../../../../lib/microseconds.ts'
import { readUuid } from '../../../../lib/uuid.ts'
import { AppFault, type EventOutcome, type EventPatch } from '../../../../platform/sandbox/sandbox.ts'
import type { PipelineEvent } from '../../../events/pipeline-event.ts'
import { readEvent, readProperties } from '../../../events/read-event.ts'

/** `now` is ISO 8601. */
export type FormContext = { project_id: number; site_url: string; now: string }
export type EventForm = { fields: JsonObject; properties: JsonObject }

const PERSON_FIELDS = ['$set', '$set_once'] as const
/** Characters of a value that an app has set, as its log shows it. */
const MAX_SHOWN = 100

/** What is to be set on the person stands beside the properties. */
export function toAppEvent(event: PipelineEvent, { project_id, site_url, now }: FormContext): EventForm {
  const fields: JsonObject = {
    uuid: event.uuid,
    event: event.event,
    distinct_id: event.distinct_id,
    team_id: project_id,
    ip: addressOf(event.properties),
    site_url,
    now,
    timestamp: event.is_time_numbered ? Number(event.timestamp) / 1000 : formatMicros(event.timestamp),
  }
  const lifted = PERSON_FIELDS.filter((name) => isObject(event.properties[name]))
  if (lifted.length === 0) return { fields, properties: event.properties }
  const properties = { ...event.properties }
  for (const name of lifted) {
    fields[name] = properties[name]
    delete properties[name]
  }
  return { fields, properties }
}

/** Where apps of long ago look for it. What they put there counts for nothing: `properties.$ip` is what is stored. */
function addressOf({ $ip }: JsonObject): string | null {
  return typeof $ip === 'string' ? $ip : null
}

/** What the app has made of the event, which is held to what a client may send; null: dropped. Throws AppFault. */
export function eventAfter(
  before: PipelineEvent,
  form: EventForm,
  outcome: EventOutcome,
  context: FormContext,
): PipelineEvent | null {
  switch (outcome.kind) {
    case 'unchanged':
      return before
    case 'dropped':
      return null
    case 'changed':
      return applyPatch(before, form, outcome.patch, context)
    case 'failed':
      throw outcome.fault
  }
}

function applyPatch(
  before: PipelineEvent,
  { fields }: EventForm,
  patch: EventPatch,
  { now }: FormContext,
): PipelineEvent {
  const { set, unset, properties } = patch
  const person_fields = PERSON_FIELDS.filter(
    (name) => Object.hasOwn(set, name) || unset.includes(name) || Object.hasOwn(properties.set, name),
  )
  const isOfProperties = unset.length === 0 && Object.keys(set).length === 0 && person_fields.length === 0
  const read = orFault(() =>
    isOfProperties
      ? { ...before, properties: readProperties(JSON.stringify(properties.set)) }
      : readFields(before, fields, patch, person_fields, now),
  )
  for (const name of [...properties.unset, ...person_fields]) delete before.properties[name]
  return { ...read, properties: Object.assign(before.properties, read.properties) }
}

/** With the changed properties only. */
function readFields(
  { uuid, timestamp, created_at }: Pick<PipelineEvent, 'uuid' | 'timestamp' | 'created_at'>,
  form: JsonObject,
  { set, unset, properties }: EventPatch,
  person_fields: readonly string[],
  now: string,
): PipelineEvent {
  const after = (name: string) =>
    Object.hasOwn(set, name) ? set[name] : unset.includes(name) ? undefined : form[name]
  const names = ['event', 'distinct_id', ...person_fields]
  const wanted_time = after('timestamp') ?? form.timestamp
  const fields: JsonObject = { timestamp: wanted_time, properties: properties.set }
  for (const name of names) fields[name] = after(name)
  const read = readEvent(JSON.stringify(fields), new Date(now))
  return {
    ...read,
    uuid: uuidGiven({ set }) ?? uuid,
    timestamp: wanted_time === form.timestamp ? timestamp : read.timestamp,
    created_at,
  }
}

/** One line for all of them; null where there is nothing to say. */
export function wrongUuidWarning(outcomes: readonly EventOutcome[]): string | null {
  const wrong = outcomes.flatMap((outcome) =>
    outcome.kind === 'changed' ? (wrongUuidOf(outcome.patch) ?? []) : [],
  )
  if (wrong.length === 0) return null
  const kept =
    wrong.length === 1 ? '1 event keeps its own uuid' : `${wrong.length} events keep their own uuid`
  return `${kept}: what the app has set is none, such as ${wrong[0]!.slice(0, MAX_SHOWN)}`
}

/** What the app has put for a uuid and is none: the event keeps its own. */
function wrongUuidOf({ set }: Pick<EventPatch, 'set'>): string | null {
  return Object.hasOwn(set, 'uuid') && uuidGiven({ set }) === null ? JSON.stringify(set.uuid) : null
}

function uuidGiven({ set: { uuid } }: Pick<EventPatch, 'set'>): string | null {
  return typeof uuid === 'string' ? readUuid(uuid) : null
}

/** Whatever it throws is the app's fault. */
function orFault<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new AppFault('result', error instanceof Error ? error.message : 'This is no event.')
  }
}
