// Single events over many connections, as browsers send them.
import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import type { PipelineEvent } from '../../../src/features/events/pipeline-event.ts'
import { percentile } from '../paced.ts'

export const CONNECTIONS = 64

export type Load = { sent: Map<string, number>; seconds: number; p50_ms: number; p99_ms: number }

/** Goes round the tokens for so long. Throws when an event is not taken: busy servers may say so and are asked again. */
export async function sendSingles(
  url: string,
  tokens: readonly string[],
  events: readonly PipelineEvent[],
  duration_s: number,
): Promise<Load> {
  const pool = new Pool(url, { connections: CONNECTIONS, headersTimeout: 120_000 })
  const sent = new Map<string, number>()
  const latencies_ms: number[] = []
  const began = performance.now()
  let next = 0
  const send = async () => {
    while (performance.now() - began < duration_s * 1000) {
      const at = next++
      const token = tokens[at % tokens.length]!
      const start = performance.now()
      await post(pool, bodyOf(events[at % events.length]!, token))
      latencies_ms.push(performance.now() - start)
      sent.set(token, (sent.get(token) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, send))
  const seconds = (performance.now() - began) / 1000
  await pool.close()
  const sorted = latencies_ms.toSorted((a, b) => a - b)
  return { sent, seconds, p50_ms: percentile(sorted, 0.5), p99_ms: percentile(sorted, 0.99) }
}

function bodyOf({ event, distinct_id, properties }: PipelineEvent, token: string): string {
  return JSON.stringify({ api_key: token, uuid: randomUUID(), event, distinct_id, properties })
}

async function post(pool: Pool, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const { statusCode, body: answer } = await pool.request({ method: 'POST', path: '/i/v0/e/', headers, body })
  const text = await answer.text()
  if (statusCode === 503) return post(pool, body)
  if (statusCode !== 200) throw new Error(`capture answered ${statusCode}: ${text}`)
}
