// When to kill: in the middle of an exchange with one of the places, while runs are at work, or at any moment at all.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../crash/random.ts'
import type { Kind } from './places.ts'
import type { Stage } from './stage.ts'

/** How many exchanges a run has there, roughly. */
const EXCHANGES: Record<Kind, number> = { folder: 8, bucket: 5, table: 20, endpoint: 2 }
const KINDS = ['folder', 'bucket', 'table', 'endpoint'] as const
const LONGEST_MS = 3_000
/** A busy machine is slow to begin; and sometimes nothing comes. */
const LIMIT_MS = 4_000

export async function waitForMoment(stage: Stage, random: Random): Promise<void> {
  const which = random.below(100)
  if (which < 60) return waitForExchange(stage, random)
  if (which < 80) return waitForWork(stage, random.below(250))
  await sleep(50 + random.below(LONGEST_MS - 50))
}

async function waitForExchange({ parts }: Stage, random: Random): Promise<void> {
  const kind = random.pick(KINDS)
  const wanted = parts.places.exchanges(kind) + 1 + random.below(EXCHANGES[kind])
  const more_ms = random.chance(50) ? 0 : random.below(10)
  for (const end = Date.now() + LIMIT_MS; Date.now() < end; await sleep(1)) {
    if (parts.places.exchanges(kind) >= wanted) break
  }
  if (more_ms > 0) await sleep(more_ms)
}

async function waitForWork(stage: Stage, more_ms: number): Promise<void> {
  for (const end = Date.now() + LIMIT_MS; Date.now() < end; await sleep(5)) {
    if ((await stage.countActive()) > 0) break
  }
  await sleep(more_ms)
}
