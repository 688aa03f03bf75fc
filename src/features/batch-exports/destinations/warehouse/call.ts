// Calls to a warehouse's API through the outbound gate, and the token that they carry. For BigQuery, Databricks and ClickHouse.
import type { OutboundAnswer, OutboundInit } from '../../../../platform/outbound/call.ts'
import { OutboundFailed, OutboundRefused } from '../../../../platform/outbound/errors.ts'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { isObject, type JsonObject } from '../../../../lib/json-object.ts'
import { connectionFault } from '../connection-faults.ts'
import { Passing, Refused } from '../destination.ts'

/** `place` begins a sentence: “BigQuery”. */
export async function callWarehouse(
  outbound: Outbound,
  place: string,
  url: string,
  init: OutboundInit,
): Promise<OutboundAnswer> {
  try {
    return await outbound.fetch(url, init)
  } catch (error) {
    if (!(error instanceof OutboundRefused) && !(error instanceof OutboundFailed)) throw error
    throw connectionFault(error.code ?? '', place) ?? new Passing(error.message)
  }
}

/** What an answer says, `{}` where that is no JSON object: an error page of a proxy, or nothing. */
export function bodyOf({ body }: OutboundAnswer): JsonObject {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

export function objectIn(body: JsonObject, key: string): JsonObject {
  const value = body[key]
  return isObject(value) ? value : {}
}

export function listIn(body: JsonObject, key: string): unknown[] {
  const value = body[key]
  return Array.isArray(value) ? value : []
}

export function textIn(body: JsonObject, key: string): string {
  const value = body[key]
  return typeof value === 'string' ? value : ''
}

/** Seconds as Retry-After has them; dates are not read. */
export function retryAfterMs({ headers }: OutboundAnswer): number | null {
  const seconds = headers['retry-after'] ?? ''
  return /^\d{1,5}$/.test(seconds) ? Number(seconds) * 1000 : null
}

export type Token = { text: string; lifetime_s: number }

const RENEW_BEFORE_S = 300

/** Asks for a token when there is none and again before it runs out: a run may take longer than a token lasts. */
export function keepToken(ask: () => Promise<Token>): () => Promise<string> {
  let held: { text: string; until_ms: number } | null = null
  return async () => {
    // A clock that never runs backwards, since only the span counts.
    if (held === null || performance.now() > held.until_ms) {
      const { text, lifetime_s } = await ask()
      held = { text, until_ms: performance.now() + Math.max(0, lifetime_s - RENEW_BEFORE_S) * 1000 }
    }
    return held.text
  }
}

/** What an OAuth token endpoint answered, without repeating what it was sent. */
export function readToken(answer: OutboundAnswer, whose: string): Token {
  const body = bodyOf(answer)
  const text = textIn(body, 'access_token')
  const lifetime_s = body.expires_in
  if (answer.status === 200 && text !== '') {
    return { text, lifetime_s: typeof lifetime_s === 'number' ? lifetime_s : 0 }
  }
  if (answer.status === 429 || answer.status >= 500) {
    throw new Passing(`The token endpoint answered with status ${answer.status}.`, retryAfterMs(answer))
  }
  const reason = /^[a-z_]{1,40}$/.exec(textIn(body, 'error'))?.[0] ?? `status ${answer.status}`
  throw new Refused(
    `The credentials of the ${whose} were not accepted (${reason}). Check them and send them again.`,
  )
}
