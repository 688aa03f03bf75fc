// What one library sends for the same few calls, written from its source: a dump that a test replays.

/** Facts that a dump is made with. */
export type Scene = {
  token: string
  /** A personal key, for those that fetch definitions of flags. */
  key: string
  /** Who the events are about: `user`, and who the user was before. */
  user: string
  before: string
  company: string
  /** When the events happened, and when the request left, by the library's clock. */
  at: Date
  sent_at: Date
  uuid(): string
}

export type Replayed = {
  method?: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: unknown
  /** How the body travels: as it is, or packed. */
  packed?: 'gzip' | 'deflate' | 'br'
  /** The part of the answer that the library reads. */
  answer: Record<string, unknown>
}

export type Dump = {
  /** `$lib` of its events; null where it names none in their properties. */
  lib: string | null
  /** Whether it tells when a request left, so that the error of its clock is taken out. */
  tells_sent_at: boolean
  /** Whether it has calls for an alias, and for groups. */
  has_alias: boolean
  has_groups: boolean
  requests(scene: Scene): Replayed[]
}

export const STORED = { status: 1 }
export const NO_FLAGS = {
  flags: {},
  featureFlags: {},
  featureFlagPayloads: {},
  errorsWhileComputingFlags: false,
}
export const NO_DEFINITIONS = { flags: [], group_type_mapping: {}, cohorts: {} }

/** What every library is made to send. */
export const PROPERTIES = { plan: 'pro', amount: 12.5, tags: ['a', 'ü'] }
export const PERSON = { email: 'user@example.com' }
export const GROUP = { seats: 3 }

/** ISO text with as many digits behind the second as a library writes, and its way to say UTC. */
export function iso(at: Date, digits: number, zone: string): string {
  const fraction = `${String(at.getUTCMilliseconds()).padStart(3, '0')}000000`.slice(0, digits)
  return `${at.toISOString().slice(0, 19)}${digits === 0 ? '' : `.${fraction}`}${zone}`
}

/** A request for definitions of flags, which server libraries repeat every half minute. */
export function definitions({ token, key }: Scene, path: string, headers: Record<string, string>): Replayed {
  return {
    method: 'GET',
    path: `${path}?token=${token}&send_cohorts`,
    headers: { ...headers, authorization: `Bearer ${key}` },
    answer: NO_DEFINITIONS,
  }
}
