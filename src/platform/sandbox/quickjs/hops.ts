// How far events have come from app to app, read off those that an app is given.
import { isObject } from '../../../lib/json-object.ts'
import { readEventText } from '../event-text.ts'
import { HOPS } from '../sandbox.ts'

export function hopsOfText(event: string): number {
  return event.includes(HOPS) ? hopsIn(readEventText(event)) : 0
}

/** A batch has as many as the event in it that has the most. */
export function hopsOf({ method, input }: { method: string; input?: unknown }): number {
  if (method === 'exportEvents' && Array.isArray(input)) return Math.max(0, ...input.map(hopsIn))
  return method === 'onEvent' || method === 'composeWebhook' ? hopsIn(input) : 0
}

function hopsIn(event: unknown): number {
  const hops = isObject(event) && isObject(event.properties) ? event.properties[HOPS] : 0
  return typeof hops === 'number' ? hops : 0
}
