// What an event says of its person without being told to: where they first came from and what they last used.
import type { Properties } from './properties.ts'

/** What an advertisement leaves in the address that it leads to. */
export const CAMPAIGN_PROPERTIES: readonly string[] = [
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
  ...CAMPAIGN_PROPERTIES,
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

const NAMES = OF_PERSON.map((name) => [name, `$initial_${name.replace('$', '')}`] as const)

/**
 * The first value goes to `onInitial` under its `$initial_…` name, each to `onLatest`. The stored event stays as it was captured:
 * repeating this in every event's `$set` would double its size.
 */
export function eachObserved(
  event: Properties,
  onInitial: (name: string, value: unknown) => void,
  onLatest: (name: string, value: unknown) => void,
): void {
  for (const [name, initialName] of NAMES) {
    const value = event[name]
    // Clients send null for a campaign they know nothing of: that must not wipe out the last one.
    if (value === undefined || value === null) continue
    onInitial(initialName, value)
    onLatest(name, value)
  }
}
