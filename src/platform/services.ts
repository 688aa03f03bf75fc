// What every slice may stand on, opened by app/services.ts and handed to each route and job.
import type { Changes } from './changes.ts'
import type { Database } from './db/database.ts'
import type { TxtLookup } from './dns/txt.ts'
import type { EventStore } from './event-store/event-store.ts'
import type { Level } from './http/caller.ts'
import type { Guesses } from './http/guesses.ts'
import type { SharedLooks } from './http/live/shared-looks.ts'
import type { PagePlaces } from './http/page-places.ts'
import type { Throttle } from './http/throttle.ts'
import type { Intake } from './intake.ts'
import type { Jobs } from './jobs/jobs.ts'
import type { Log } from './log/log.ts'
import type { Mailer } from './mail/mail.ts'
import type { Outbound } from './outbound/outbound.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import type { Secrets } from './secrets/secrets.ts'

export type Services = {
  db: Database
  eventStore: EventStore
  secrets: Secrets
  jobs: Jobs
  intake: Intake
  mailer: Mailer
  lookupTxt: TxtLookup
  outbound: Outbound
  sandbox: Sandbox
  changes: Changes
  throttle: Throttle
  pagePlaces: PagePlaces
  looks: SharedLooks
  guesses: Guesses
  log: Log
  settings: Settings
  /** What the running server tells of itself, by part: filled once everything is open. */
  instance: Map<string, () => Promise<unknown>>
  /** The only clock: tests move it. */
  now(): Date
}

/** What the instance is known as to a provider. */
export type SocialClient = { client_id: string; client_secret: string; base_url: string }

/** The settings that features read. */
export type Settings = {
  /** Base of links in mails, without a trailing slash. */
  site_url: string
  is_signup_open: boolean
  /** What a key may ask for, in percent of what is usual. */
  key_limits_percent: number
  max_keys_per_user: number
  domain_challenge_prefix: string
  /** Types of destinations that are switched off. */
  disabled_destinations: readonly string[]
  /** Whether exports may run more often than once an hour. */
  sub_hourly_exports: boolean
  /** How many runs of exports one process works on at a time. */
  export_max_runs: number
  /** How long an export waits for a lock in the database it writes to. */
  lock_timeout_ms: number
  /** Root of the folders that exports to files write to. */
  export_folder: string
  /** Databases without TLS may be exported to: for development and tests. */
  allow_plaintext: boolean
  /** For files that are needed for a while. Nothing in it outlives the process. */
  scratch_folder: string
  /** Private addresses that may be called, for threads that have a gate of their own. */
  outbound_allow: readonly string[]
  /** The folder that plugins of type local come from; null: there are none. */
  plugins_folder: string | null
  /** Whoever installs or configures plugins must have this level. */
  plugins_min_write_level: Level
  /** How long events wait for all of the apps they pass through before they go on without. */
  plugin_patience_ms: number
  /** Events of a project that wait for an app take up this much at most. */
  plugin_hold_bytes: number
  /** Where the catalogue of plugins comes from; null: from the server itself. */
  plugins_repository_url: string | null
  /** For addresses that bring no token of their own. */
  plugin_source_tokens: Record<'github' | 'gitlab' | 'npm', string | null>
  /** Providers that people sign in with to the whole instance; null: not set up. */
  social_sign_in: Record<'google-oauth2' | 'github' | 'gitlab', SocialClient | null>
}
