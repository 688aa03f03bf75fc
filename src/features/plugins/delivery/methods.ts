// The functions that get stored events, and what each may expect.

export type DeliveryMethod = 'onEvent' | 'composeWebhook' | 'exportEvents'

export type MethodRules = {
  /** How long to wait after the first failed try, the second and so on; after the last of these it is given up. */
  waits_s: readonly number[]
  /** How long a try can take at most. */
  try_s: number
  /** What is read at a time: for exportEvents this is the batch. */
  max_events: number
  max_bytes: number
  /** How long a batch that is not full waits for more. */
  gather_ms: number
  /** How much of it may be under way. */
  in_flight: number
}

const MEGABYTE = 1024 * 1024
const EVENT_BY_EVENT = {
  waits_s: [1, 5, 30, 120, 600],
  max_events: 100,
  max_bytes: MEGABYTE,
  gather_ms: 0,
  in_flight: 10,
}

export const METHOD_RULES: Readonly<Record<DeliveryMethod, MethodRules>> = {
  onEvent: { ...EVENT_BY_EVENT, try_s: 30 },
  composeWebhook: { ...EVENT_BY_EVENT, try_s: 10 },
  exportEvents: {
    waits_s: [6, 12, 24],
    try_s: 30,
    max_events: 10_000,
    max_bytes: MEGABYTE,
    gather_ms: 10_000,
    in_flight: 1,
  },
}

/** An app with exportEvents has an onEvent only because it was given one. */
export function deliveryMethodsOf(methods: ReadonlySet<string>): DeliveryMethod[] {
  return (Object.keys(METHOD_RULES) as DeliveryMethod[]).filter(
    (method) => methods.has(method) && !(method === 'onEvent' && methods.has('exportEvents')),
  )
}

const LONGEST_WAIT_MS = 600_000
const JITTER = 0.2

/**
 * Milliseconds until the next try, never less than the rule has; null when it was the last. `asked_ms` is what the other
 * side asked for.
 */
export function waitAfter(
  method: DeliveryMethod,
  attempt: number,
  asked_ms: number | null,
  chance = Math.random(),
): number | null {
  const wait_s = METHOD_RULES[method].waits_s[attempt - 1]
  if (wait_s === undefined) return null
  const wait_ms = wait_s * 1000 * (1 + JITTER * chance)
  return Math.ceil(Math.max(wait_ms, Math.min(asked_ms ?? 0, LONGEST_WAIT_MS)))
}
