// What an app may use. Tests set them lower, so that nobody waits for half a minute.

export type Limits = {
  memory_bytes: number
  /** A call runs this long in all, the time it only waits for something not counted. */
  call_cpu_ms: number
  /** The same for processEvent and composeWebhook. */
  event_cpu_ms: number
  inspect_cpu_ms: number
  /** From beginning to end, waiting included. */
  call_wall_ms: number
  teardown_wall_ms: number
  /** An instance without calls for this long is given up; the next call makes another. */
  idle_ms: number
}

export const DEFAULT_LIMITS: Limits = {
  memory_bytes: 32 * 1024 * 1024,
  call_cpu_ms: 5_000,
  event_cpu_ms: 1_000,
  inspect_cpu_ms: 1_000,
  call_wall_ms: 30_000,
  teardown_wall_ms: 5_000,
  idle_ms: 10 * 60_000,
}

export const MAX_RESULT_LENGTH = 1024 * 1024
export const MAX_FETCHES_PER_CALL = 50
export const MAX_FETCHES_IN_FLIGHT = 10
/** What ten in flight come to when each takes 50 ms: only those to somebody very near are slowed down. */
export const MAX_FETCHES_PER_S = 200
/** Storage, captured events and jobs. */
export const MAX_REQUESTS_IN_FLIGHT = 20
export const MAX_CAPTURES_PER_S = 100
/** A call, or a batch of events. */
export const MAX_LOG_LINES = 200
export const MAX_LOG_LENGTH = 10_000
export const MAX_JOB_PAYLOAD_LENGTH = 64 * 1024
export const MAX_JOB_DELAY_MS = 366 * 86_400_000
export const MAX_CACHE_LENGTH = 10 * 1024 * 1024
/** All groups on a thread together cache at most this. */
export const MAX_ALL_CACHES_LENGTH = 50 * 1024 * 1024
export const MAX_UNZIPPED_BYTES = 5 * 1024 * 1024
export const MAX_ALARMS = 100
/** For Intl: those that a thread keeps, and those that an app can make. Each takes some 40 kB. */
export const MAX_FORMATS = 250
export const MAX_NEW_FORMATS_AT_FIRST = 100
export const MAX_NEW_FORMATS_PER_S = 10
/** How long a thread may stay in an app past its time before it is ended. */
export const WATCHDOG_GRACE_MS = 500
