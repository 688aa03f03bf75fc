// How each value of a session comes about from its events, in words: exports and queries each spell it in their language.
import type { SESSION_VALUES } from './export-rows.ts'
import { HOT_PROPERTIES } from './layout.ts'

/** Seconds after which a session with a single page is no bounce. */
export const BOUNCE_S = 10

/** Events that somebody causes by looking or clicking. */
export const SEEN_EVENTS = ['$pageview', '$screen', '$autocapture'] as const

export type SessionValue =
  /** The first or last of its events that has the property not empty; of two of one instant the position decides. */
  | { first: string }
  | { last: string }
  /** The same for the distinct id. */
  | { last_id: true }
  /** How many of its events have this name. */
  | { count: string }
  | { of: 'id' | 'uuid' | 'start' | 'end' | 'seconds' | 'urls' | 'url_count' | 'is_bounce' | 'seen_up_to_2' }
  /** A property as a number. */
  | { first_number: string }

/** Whose the session is, is known to whoever asks. */
export type SessionName = Exclude<keyof typeof SESSION_VALUES, 'team_id'>

export const SESSION_MEANINGS: Readonly<Record<SessionName, SessionValue>> = {
  session_id: { of: 'id' },
  session_id_v7: { of: 'uuid' },
  distinct_id: { last_id: true },
  start_timestamp: { of: 'start' },
  end_timestamp: { of: 'end' },
  urls: { of: 'urls' },
  num_uniq_urls: { of: 'url_count' },
  entry_current_url: { first: '$current_url' },
  entry_pathname: { first: '$pathname' },
  entry_hostname: { first: '$host' },
  end_current_url: { last: '$current_url' },
  end_pathname: { last: '$pathname' },
  end_hostname: { last: '$host' },
  entry_utm_source: { first: 'utm_source' },
  entry_utm_campaign: { first: 'utm_campaign' },
  entry_utm_medium: { first: 'utm_medium' },
  entry_utm_term: { first: 'utm_term' },
  entry_utm_content: { first: 'utm_content' },
  entry_referring_domain: { first: '$referring_domain' },
  entry_gclid: { first: 'gclid' },
  entry_fbclid: { first: 'fbclid' },
  entry_gad_source: { first: 'gad_source' },
  pageview_count: { count: '$pageview' },
  autocapture_count: { count: '$autocapture' },
  screen_count: { count: '$screen' },
  session_duration: { of: 'seconds' },
  duration: { of: 'seconds' },
  is_bounce: { of: 'is_bounce' },
  last_external_click_url: { last: '$external_click_url' },
  page_screen_autocapture_count_up_to: { of: 'seen_up_to_2' },
  exit_current_url: { last: '$current_url' },
  exit_pathname: { last: '$pathname' },
  vitals_lcp: { first_number: '$web_vitals_LCP_value' },
}

/** Properties that have no column of their own, each once. */
export const READ_FOR_SESSIONS: readonly string[] = [
  ...new Set(Object.values(SESSION_MEANINGS).flatMap(propertyOf)),
].filter((property) => !(HOT_PROPERTIES as readonly string[]).includes(property))

function propertyOf(value: SessionValue): string[] {
  if ('first' in value) return [value.first]
  if ('last' in value) return [value.last]
  return 'first_number' in value ? [value.first_number] : []
}
