// The newer path of server libraries: the token as a bearer, what the older ones hide in `$` properties as fields, and an
// answer for each event.
import type { FastifyRequest } from 'fastify'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { PipelineEvent } from '../pipeline-event.ts'

export const ANALYTICS_V1 = '/i/v1/analytics/events'

/** Names of the properties that fields and options stand for. */
const FIELDS = { session_id: '$session_id', window_id: '$window_id' }
const OPTIONS = {
  cookieless_mode: '$cookieless_mode',
  disable_skew_correction: '$ignore_sent_at',
  process_person_profile: '$process_person_profile',
  product_tour_id: '$product_tour_id',
}

export function bearerToken({ headers }: FastifyRequest): string | undefined {
  return /^bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1]
}

/** Milliseconds since 1970 as text, as the older paths have it in the query. */
export function requestTimestamp({ headers }: FastifyRequest): string | undefined {
  const ms = Date.parse(String(headers['posthog-request-timestamp']))
  return Number.isNaN(ms) ? undefined : String(ms)
}

/** Puts fields and options where the older paths have them. What a property says already stays. */
export function lowerOptions(item: JsonObject, properties: JsonObject): void {
  const options = isObject(item.options) ? item.options : {}
  for (const [given, names] of [
    [item, FIELDS],
    [options, OPTIONS],
  ] as const) {
    for (const [field, name] of Object.entries(names)) {
      const value = given[field]
      if (value !== undefined && value !== null) properties[name] ??= value
    }
  }
}

/** `posthog-go/1.2.3` names the library where the events do not. */
export function addLibrary({ headers }: FastifyRequest, events: readonly PipelineEvent[]): void {
  const [, lib, version] =
    /^([\w.@/-]{1,100})\/([\w.+-]{1,50})$/.exec(String(headers['posthog-sdk-info'])) ?? []
  if (lib === undefined) return
  for (const { properties } of events) {
    properties.$lib ??= lib
    properties.$lib_version ??= version
  }
}

export function resultsOf(events: readonly PipelineEvent[]) {
  return { results: Object.fromEntries(events.map(({ uuid }) => [uuid, { result: 'ok' }])) }
}
