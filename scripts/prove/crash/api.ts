// What the prover asks of the server, as any client would.
import type { Random } from '../../crash/random.ts'
import { KEY } from '../../crash/first-project.ts'
import { INTERVAL_MS } from './clock.ts'
import type { PlannedExport } from './places.ts'

export type MadeExport = Pick<PlannedExport, 'name' | 'kind' | 'destination'> & {
  id: string
  /** Not to have a schedule at all, or set aside by the prover for a while. */
  paused: boolean
  is_for_backfills: boolean
}

export type Totals = Record<'received' | 'exported' | 'filtered_out' | 'pending' | 'skipped', number>

const MAX_INTERVALS = 4
const MAX_INTERVALS_BACK = 6

export async function makeExports(url: string, planned: readonly PlannedExport[]): Promise<MadeExport[]> {
  const made: MadeExport[] = []
  for (const { name, kind, paused, destination } of planned) {
    const body = { name, paused, destination, interval: 'every 5 minutes' }
    const { id } = await ask<{ id: string }>(url, 'POST', '', body)
    made.push({ name, kind, paused, is_for_backfills: paused, destination, id })
  }
  return made
}

export async function totalsOf(url: string, { id }: MadeExport): Promise<Totals> {
  return (await ask<{ totals: Totals }>(url, 'GET', `${id}/reconciliation/?limit=1`)).totals
}

export async function retryRun(url: string, { id }: MadeExport, run_id: string): Promise<void> {
  await ask(url, 'POST', `${id}/runs/${run_id}/retry/`)
}

/** A stretch of the past, also of what has long been delivered, and up to the interval that is still open. */
export async function askForRange(
  url: string,
  { id }: MadeExport,
  what: 'backfill' | 'repair',
  random: Random,
  now: Date,
): Promise<void> {
  const start_ms =
    Math.floor(now.getTime() / INTERVAL_MS - 1 - random.below(MAX_INTERVALS_BACK)) * INTERVAL_MS
  const end_ms = Math.min(now.getTime(), start_ms + (1 + random.below(MAX_INTERVALS)) * INTERVAL_MS)
  await ask(url, 'POST', `${id}/${what}/`, {
    start_at: new Date(start_ms).toISOString(),
    end_at: new Date(end_ms).toISOString(),
  })
}

/** By the day, and the last ends with this hour: some events are months old, and most intervals of five minutes are empty. */
export async function backfillEverything(url: string, { id }: MadeExport, now: Date): Promise<void> {
  await ask(url, 'PATCH', `${id}/`, { interval: 'day', offset_hour: now.getUTCHours() })
  await ask(url, 'POST', `${id}/backfill/`, { end_at: now.toISOString() })
}

export async function pause(url: string, made: MadeExport): Promise<void> {
  await ask(url, 'POST', `${made.id}/pause/`)
  made.paused = true
}

/** What arrived meanwhile goes out too. */
export async function unpause(url: string, made: MadeExport): Promise<void> {
  await ask(url, 'POST', `${made.id}/unpause/`, { backfill: true })
  made.paused = false
}

export async function runNow(url: string, { id }: MadeExport): Promise<void> {
  await ask(url, 'POST', `${id}/runs/`)
}

/** Runs that are done again from now on write other files. */
export async function changeFileSize(url: string, { id }: MadeExport, random: Random): Promise<void> {
  const config = { max_file_size_mb: random.pick([null, 1, 2]) }
  await ask(url, 'PATCH', `${id}/`, { destination: { config } })
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
  if (response.status === 400 && text.includes('is catching up')) throw new TooMuch(text)
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return JSON.parse(text) as T
}
