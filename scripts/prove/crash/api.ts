// What the prover asks of the server, as any client would.
import type { Random } from '../../crash/random.ts'
import { INTERVAL_MS } from './clock.ts'
import type { Kind, PlannedExport } from './places.ts'

export const KEY = `phx_${'prove0'.repeat(6)}`

export type MadeExport = Pick<PlannedExport, 'name' | 'kind' | 'paused'> & {
  id: string
  /** Where its next backfill begins. */
  backfilled_until_ms: number
}

export type Totals = Record<'received' | 'exported' | 'filtered_out' | 'pending' | 'skipped', number>

const MAX_INTERVALS = 4

export async function makeExports(
  url: string,
  planned: readonly PlannedExport[],
  now: Date,
): Promise<MadeExport[]> {
  const made: MadeExport[] = []
  for (const { name, kind, paused, destination } of planned) {
    const body = { name, paused, destination, interval: 'every 5 minutes' }
    const { id } = await ask<{ id: string }>(url, 'POST', '', body)
    const backfilled_until_ms = Math.floor(now.getTime() / INTERVAL_MS) * INTERVAL_MS
    made.push({ name, kind, paused, id, backfilled_until_ms })
  }
  return made
}

export async function totalsOf(url: string, { id }: MadeExport): Promise<Totals> {
  return (await ask<{ totals: Totals }>(url, 'GET', `${id}/reconciliation/?limit=1`)).totals
}

export async function retryRun(url: string, { id }: MadeExport, run_id: string): Promise<void> {
  await ask(url, 'POST', `${id}/runs/${run_id}/retry/`)
}

/** False: nothing has ended yet that was not backfilled before. */
export async function backfill(url: string, of: MadeExport, random: Random, now: Date): Promise<boolean> {
  const start_ms = startOf(of, random, now)
  const whole = Math.floor((now.getTime() - start_ms) / INTERVAL_MS)
  const intervals = Math.min(whole, 1 + random.below(MAX_INTERVALS))
  if (intervals < 1) return false
  const end_ms = start_ms + intervals * INTERVAL_MS
  await ask(url, 'POST', `${of.id}/backfill/`, {
    start_at: new Date(start_ms).toISOString(),
    end_at: new Date(end_ms).toISOString(),
  })
  of.backfilled_until_ms = Math.max(of.backfilled_until_ms, end_ms)
  return true
}

/** What stands in files is backfilled once: a second time, with later events, would put other files in their place. */
function startOf({ kind, backfilled_until_ms }: MadeExport, random: Random, now: Date): number {
  const isRepeatable: Record<Kind, boolean> = { folder: false, bucket: false, table: true, endpoint: true }
  if (!isRepeatable[kind]) return backfilled_until_ms
  return Math.floor(now.getTime() / INTERVAL_MS - 1 - random.below(6)) * INTERVAL_MS
}

/** The server says that enough is going on. */
export class TooMuch extends Error {}

async function ask<T>(url: string, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${url}/api/projects/@current/batch_exports/${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
  })
  const text = await response.text()
  if (response.status === 429) throw new TooMuch(text)
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return JSON.parse(text) as T
}
