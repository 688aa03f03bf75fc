// Configurations of destinations: complete ones, changes to stored ones, and whether their hosts may be called. Creating,
// changing and testing a destination all come through here. No message repeats a value: any of them may be a secret.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { isObject, type JsonObject } from '../../lib/json-object.ts'
import { attrOf } from '../../platform/http/body.ts'
import { ApiError, invalid } from '../../platform/http/errors.ts'
import { validate } from '../../platform/http/validate.ts'
import { OutboundRefused, OutboundUnresolved } from '../../platform/outbound/errors.ts'
import type { Outbound } from '../../platform/outbound/outbound.ts'
import { IGNORED_KEYS } from './destinations/config-fields.ts'
import type { DestinationKind } from './destinations/destination.ts'
import { DESTINATIONS, TYPE_ALIASES } from './destinations/index.ts'
import { mergeConfig } from './secrets.ts'

// Limits on the keys in a message: somebody may have sent thousands, or pasted a file as one.
const MAX_NAMED = 20
const MAX_NAME = 100
const UNRESOLVED =
  'The host of this destination does not resolve. Check its spelling, or try again once it is in the DNS.'
const NOT_PUBLIC =
  'The host of this destination may not be called: its address is not public. Ask the operator of this server to add it to OUTBOUND_ALLOW.'

/** By its own name or by an alias. */
export function findKind(type: string): DestinationKind | undefined {
  return DESTINATIONS.get(TYPE_ALIASES.get(type) ?? type)
}

export function getKind(type: string): DestinationKind {
  const kind = findKind(type)
  if (kind) return kind
  const known = [...DESTINATIONS.keys(), ...TYPE_ALIASES.keys()].join(', ')
  throw invalid('destination__type', 'invalid_choice', `Choose one of: ${known}.`)
}

/** The complete configuration, with defaults filled in and secrets in place. */
export function readConfig(kind: DestinationKind, sent: JsonObject): JsonObject {
  const isMeant = (key: string) => !IGNORED_KEYS.has(key) && !kind.ignores?.includes(key)
  const meant = Object.fromEntries(Object.entries(sent).filter(([key]) => isMeant(key)))
  assertKnownKeys(kind, meant)
  const config = validConfig(kind, meant)
  const fault = kind.faults?.(config)
  if (!fault) return config
  const attr = fault.field === null ? 'destination' : `destination__${fault.field}`
  throw invalid(attr, 'invalid_input', fault.message)
}

/** Merges what is sent into what is stored (with its secrets). The result must be valid as a whole. */
export function changeConfig(kind: DestinationKind, stored: JsonObject, sent: JsonObject): JsonObject {
  assertNoSecretErased(kind, sent)
  const config = readConfig(kind, mergeConfig(stored, sent))
  if (isAimedElsewhere(kind, stored, config)) assertSecretsSent(kind, stored, sent)
  return config
}

/** Checked again by every run and at every connection: a name may lead to another address by then. */
export async function assertHostsAllowed(
  outbound: Pick<Outbound, 'checkedAddress'>,
  kind: DestinationKind,
  config: JsonObject,
): Promise<void> {
  for (const host of kind.hosts(config)) {
    try {
      await outbound.checkedAddress(host)
    } catch (error) {
      if (!(error instanceof OutboundRefused)) throw error
      throw invalid(
        'destination',
        'invalid_input',
        error instanceof OutboundUnresolved ? UNRESOLVED : NOT_PUBLIC,
      )
    }
  }
}

/** Unknown keys are reported first and all at once: they are typing errors, or mean another destination. */
function assertKnownKeys(kind: DestinationKind, sent: JsonObject): void {
  const issues = kind.config.safeParse(sent).error?.issues ?? []
  const unknown = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key].join('.')) : [],
  )
  if (unknown.length === 0) return
  const names = unknown.slice(0, MAX_NAMED).map((name) => `\`${name.slice(0, MAX_NAME)}\``)
  const known = Object.keys(kind.example).map((name) => `\`${name}\``)
  const hint = known.length === 0 ? '' : ` It takes ${known.join(', ')}; /docs has all of it.`
  throw invalid('destination', 'invalid_input', `${kind.type} does not know ${names.join(', ')}.${hint}`)
}

/** Refuses with the usual messages for fields, but always with the code `invalid_input`. */
function validConfig(kind: DestinationKind, sent: JsonObject): JsonObject {
  try {
    return validate(z.object({ destination: kind.config }), { destination: sent }).destination
  } catch (error) {
    throw error instanceof ApiError ? invalid(error.attr, 'invalid_input', error.detail) : error
  }
}

/** A form that sends its blank fields back must not erase the credentials it was never shown. */
function assertNoSecretErased(kind: DestinationKind, sent: JsonObject): void {
  for (const path of kind.secrets) {
    const value = valueAt(sent, path)
    if (value !== null && value !== '') continue
    throw invalid(secretAttr(path), 'invalid_input', 'A secret cannot be blank: leave it out to keep it.')
  }
}

/** Whether two configurations, with or without their secrets, point to different places. */
export function isAimedElsewhere(kind: DestinationKind, stored: JsonObject, config: JsonObject): boolean {
  return kind.aims.some((path) => !isDeepStrictEqual(valueAt(stored, path), valueAt(config, path)))
}

/**
 * The same key for all configurations that point to the same place (server and database, bucket, URL), with or without
 * their secrets.
 */
export function destinationKey(type: string, config: JsonObject): string {
  const { aims, secrets } = DESTINATIONS.get(type)!
  const shown = aims.filter((path) => !secrets.includes(path)).map((path) => valueAt(config, path) ?? null)
  return createHash('sha256')
    .update(JSON.stringify([type, ...shown]))
    .digest('base64url')
}

/** Otherwise whoever may change an export could have its secrets delivered to a host of their own. */
function assertSecretsSent(kind: DestinationKind, stored: JsonObject, sent: JsonObject): void {
  for (const path of kind.secrets) {
    const isKept = (valueAt(stored, path) ?? null) !== null && valueAt(sent, path) === undefined
    if (!isKept) continue
    const detail = 'Send this secret again: the change would send the stored one somewhere else.'
    throw invalid(secretAttr(path), 'invalid_input', detail)
  }
}

function secretAttr(path: string): string | null {
  return attrOf(['destination', ...path.split('.')])
}

function valueAt(config: JsonObject, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      config,
    )
}
