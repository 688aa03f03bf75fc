// Jobs that an app offers for anybody to start, `public_jobs`, and what may be handed to them. No I/O.
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import { parseTimestamp } from '../../../lib/timestamps.ts'
import { invalid } from '../../../platform/http/errors.ts'

export type StartedJob = { name: string; payload: JsonObject }

const MAX_PAYLOAD_BYTES = 64 * 1024

const FITS = new Map<unknown, (value: unknown) => boolean>([
  ['string', (value) => typeof value === 'string'],
  ['boolean', (value) => typeof value === 'boolean'],
  ['number', (value) => typeof value === 'number'],
  ['date', isDate],
  ['daterange', (value) => Array.isArray(value) && value.length === 2 && value.every(isDate)],
])

/** `job` as sent, checked against what the plugin says of it; defaults are filled in. */
export function readJob(public_jobs: unknown, job: unknown, is_staff: boolean): StartedJob {
  if (!isObject(job) || typeof job.type !== 'string' || job.type === '') {
    throw complain(null, 'Name the job to start: `{"job": {"type": "<name>"}}`.')
  }
  const { type: name, payload = {}, operation = 'start' } = job
  if (operation !== 'start') throw complain('job', 'A job can only be started.')
  const offered = isObject(public_jobs) && Object.hasOwn(public_jobs, name) ? public_jobs[name] : undefined
  if (!isObject(offered)) throw complain('job', 'The plugin offers no such job.')
  if (!isObject(payload)) throw complain('job', 'The payload is an object.')
  const parameters = parametersOf(offered, is_staff)
  const unknown = Object.keys(payload).find((key) => !parameters.has(key))
  if (unknown !== undefined) throw complain('job', 'The payload has a key that the job does not take.')
  const complete = [...parameters].flatMap(([key, parameter]) => {
    const value = payloadValue(key, parameter, Object.hasOwn(payload, key) ? payload[key] : undefined)
    return value === undefined ? [] : [[key, value] as const]
  })
  return { name, payload: smallEnough(Object.fromEntries(complete)) }
}

/** What only staff may set does not exist for others. */
function parametersOf({ payload }: JsonObject, is_staff: boolean): Map<string, JsonObject> {
  const given = isObject(payload) ? Object.entries(payload) : []
  return new Map(
    given.flatMap(([key, parameter]) =>
      isObject(parameter) && (is_staff || !parameter.staff_only) ? [[key, parameter] as const] : [],
    ),
  )
}

function payloadValue(key: string, parameter: JsonObject, sent: unknown): unknown {
  const attr = `job__payload__${key}`
  const value = sent ?? parameter.default ?? undefined
  if (value === undefined) {
    if (!parameter.required) return undefined
    throw invalid(attr, 'required', 'The job needs this.')
  }
  const fits = FITS.get(parameter.type)
  if (fits && !fits(value)) throw complain(attr, 'This is not what the job takes here.')
  return value
}

function smallEnough(payload: JsonObject): JsonObject {
  if (Buffer.byteLength(JSON.stringify(payload)) <= MAX_PAYLOAD_BYTES) return payload
  throw invalid('job__payload', 'max_length', 'The payload can have 64 kB at most.')
}

function isDate(value: unknown): boolean {
  return typeof value === 'string' && parseTimestamp(value) !== null
}

function complain(attr: string | null, detail: string) {
  return invalid(attr, 'invalid_input', detail)
}
