// What stands beside the results in every answer of the query endpoint, as PostHog's clients expect it. Nothing is cached.
import { z } from 'zod'

export const ANSWER_FRAME = {
  query: z.unknown(),
  error: z.null(),
  modifiers: z.object({}),
  timings: z.array(z.unknown()),
  is_cached: z.literal(false),
  cache_key: z.null(),
  last_refresh: z.string().meta({ format: 'date-time' }),
  next_allowed_client_refresh: z.string().meta({ format: 'date-time' }),
  timezone: z.string(),
}

export function answerFrame(query: unknown, timezone: string, now: Date) {
  return {
    query,
    error: null,
    modifiers: {},
    timings: [],
    is_cached: false as const,
    cache_key: null,
    last_refresh: now.toISOString(),
    next_allowed_client_refresh: now.toISOString(),
    timezone,
  }
}
