// What an event says of its person without being told to: where they first came from and what they last used.
import { isObject, type JsonObject, type PipelineEvent } from './event.ts'

const CAMPAIGN = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_content',
  'utm_term',
  'utm_name',
  'gclid',
  'gad_source',
  'gclsrc',
  'dclid',
  'gbraid',
  'wbraid',
  'fbclid',
  'msclkid',
  'twclid',
  'li_fat_id',
  'mc_cid',
  'igshid',
  'ttclid',
]

/** Kept on the person twice: the first value ever as `$initial_…`, and the latest under its own name. */
const OF_PERSON = [
  ...CAMPAIGN,
  '$referrer',
  '$referring_domain',
  '$browser',
  '$browser_version',
  '$os',
  '$os_version',
  '$os_name',
  '$current_url',
  '$pathname',
  '$device_type',
  '$app_build',
  '$app_name',
  '$app_namespace',
  '$app_version',
]

/** Adds to `$set_once` and `$set`; what the event itself sets there wins. Call it only for events that have a person. */
export function addPersonProperties({ properties }: PipelineEvent): void {
  // Clients send null for a campaign they know nothing of: that must not wipe out the last one.
  const told = OF_PERSON.filter((name) => properties[name] !== undefined && properties[name] !== null)
  if (told.length === 0) return
  const initial = told.map((name) => [`$initial_${name.replace('$', '')}`, properties[name]])
  const latest = told.map((name) => [name, properties[name]])
  properties.$set_once = { ...Object.fromEntries(initial), ...objectOf(properties.$set_once) }
  properties.$set = { ...Object.fromEntries(latest), ...objectOf(properties.$set) }
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** What the event says of its own address wins over where it came from; null where a project keeps no addresses at all. */
export function addClientAddress({ properties }: PipelineEvent, address: string | null): void {
  if (address === null) delete properties.$ip
  else if (!Object.hasOwn(properties, '$ip')) properties.$ip = address
}
