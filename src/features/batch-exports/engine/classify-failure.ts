// What a failed attempt means: whose fault it is, whether another attempt may help, and when.
import { OutboundFailed, OutboundRefused } from '../../../platform/outbound/errors.ts'
import { QueryFault, StoreBusy } from '../../../platform/event-store/event-store.ts'
import { Locked, Passing, Refused, Unreachable } from '../destinations/destination.ts'

export type FailureClass =
  /** The user must change something. */
  | { kind: 'theirs'; message: string }
  /** Nobody answers: the user's fault, unless it has worked before. */
  | { kind: 'unreachable'; message: string }
  | { kind: 'passing'; message: string; retry_after_ms: number | null }
  /** The destination works, but somebody else holds what the run needs. */
  | { kind: 'locked'; message: string; retry_after_ms: number | null; lock: string }
  /** A fault of this server. Its operator finds the cause in the log. */
  | { kind: 'ours'; message: string }

const MAX_FAILURES = 15
const FIRST_DELAY_MS = 1_000
const MAX_DELAY_MS = 120_000
/** A destination that asks for more time than this is asked again meanwhile. */
const MAX_ASKED_MS = 3_600_000
const OURS = 'Something went wrong in this server. Its operator finds the cause in its log.'

export function classifyFailure(error: unknown): FailureClass {
  if (error instanceof Refused || error instanceof OutboundRefused)
    return { kind: 'theirs', message: error.message }
  // The export's own query has an invalid pattern, or a value that cannot be cast.
  if (error instanceof QueryFault) return { kind: 'theirs', message: error.message }
  if (error instanceof Unreachable) return { kind: 'unreachable', message: error.message }
  if (error instanceof Locked) {
    const { message, retry_after_ms, lock } = error
    return { kind: 'locked', message, retry_after_ms, lock }
  }
  if (error instanceof Passing) {
    return { kind: 'passing', message: error.message, retry_after_ms: error.retry_after_ms }
  }
  if (error instanceof OutboundFailed)
    return { kind: 'passing', message: error.message, retry_after_ms: null }
  if (error instanceof StoreBusy) return { kind: 'ours', message: error.message }
  return { kind: 'ours', message: OURS }
}

/** `failures` counts those before this one. */
export function isLastAttempt(failures: number): boolean {
  return failures + 1 >= MAX_FAILURES
}

/** All attempts have failed, the last without reporting: the run ends, whoever works on it. */
export function isUsedUp(failures: number): boolean {
  return failures >= MAX_FAILURES
}

/** How long the destination has asked to be left alone, as far as it gets that. */
export function askedMs(verdict: FailureClass): number {
  return 'retry_after_ms' in verdict ? Math.min(verdict.retry_after_ms ?? 0, MAX_ASKED_MS) : 0
}

/**
 * Exponential backoff from one second up to two minutes, with jitter so that not all come back at once; later, if the
 * destination has asked for it.
 */
export function delayMs(failures: number, asked_ms: number, chance: number): number {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures, 20), MAX_DELAY_MS)
  const spread = delay * (0.5 + chance / 2)
  return Math.max(spread, asked_ms)
}
