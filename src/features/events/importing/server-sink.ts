// The sink for a running server, here or elsewhere: events are sent to its capture in packed batches. What a passing fault
// keeps back is sent again; what the server refuses is halved until the events at fault are known.
import { promisify } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzip } from 'node:zlib'
import type { PipelineEvent } from '../pipeline-event.ts'
import { SERVER_BATCH, toCaptured, type RefusedEvent, type Sink } from './sink.ts'

export type ServerSinkOptions = {
  /** Without a trailing slash. */
  url: string
  token: string
  /** Pause before the second try; doubled before each further one. */
  first_pause_ms?: number
  max_tries?: number
}

type Answer = { status: number; detail: string; retry_after_ms: number }

const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 30_000
/** About three minutes of trying. */
const MAX_TRIES = 12
const TIMEOUT_MS = 60_000
/** About an event of the batch, so that fewer of them may do. */
const ABOUT_EVENTS = new Set([400, 413, 422])
const pack = promisify(gzip)

export function openServerSink(options: ServerSinkOptions): Sink {
  const send = async (events: readonly PipelineEvent[], offset: number): Promise<RefusedEvent[]> => {
    const { status, detail } = await post(options, events)
    if (status < 300) return []
    if (!ABOUT_EVENTS.has(status)) throw new Error(`${options.url} answers ${status}: ${detail}`)
    if (events.length === 1)
      return [{ index: offset, reason: `the server refuses it (${status}): ${detail}` }]
    const half = events.length >> 1
    return [
      ...(await send(events.slice(0, half), offset)),
      ...(await send(events.slice(half), offset + half)),
    ]
  }
  return {
    // Requests side by side may overtake each other, and what an event does to its person depends on the order.
    in_flight: 1,
    batch: SERVER_BATCH,
    accept: (events) => (events.length === 0 ? Promise.resolve([]) : send(events, 0)),
    stored: () => null,
    close: () => Promise.resolve(),
  }
}

async function post(options: ServerSinkOptions, events: readonly PipelineEvent[]): Promise<Answer> {
  const batch = events.map(toCaptured)
  const body = await pack(JSON.stringify({ api_key: options.token, historical_migration: true, batch }), {
    level: 1,
  })
  const { first_pause_ms = FIRST_PAUSE_MS, max_tries = MAX_TRIES } = options
  let failure = ''
  for (let tries = 0; tries < max_tries; tries += 1) {
    const answer = await request(`${options.url}/batch/`, body)
    if (typeof answer !== 'string' && answer.status < 500 && answer.status !== 429) return answer
    failure = typeof answer === 'string' ? answer : `${answer.status} ${answer.detail}`
    const asked_ms = typeof answer === 'string' ? 0 : answer.retry_after_ms
    if (tries < max_tries - 1)
      await sleep(Math.min(Math.max(first_pause_ms * 2 ** tries, asked_ms), MAX_PAUSE_MS))
  }
  throw new Error(`${options.url} accepted nothing in ${max_tries} tries: ${failure}`)
}

/** The answer, or in words why there is none. */
async function request(url: string, body: Uint8Array): Promise<Answer | string> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: body as Uint8Array<ArrayBuffer>,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await response.text()
    const retry_after_ms = Number(response.headers.get('retry-after') ?? 0) * 1000 || 0
    return { status: response.status, detail: detailOf(text), retry_after_ms }
  } catch (error) {
    const { cause, message } = error as Error
    return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message
  }
}

function detailOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown }
    if (typeof detail === 'string') return detail
  } catch {
    // Not JSON: a proxy's page, or nothing.
  }
  return text.slice(0, 200).replace(/\s+/g, ' ')
}
