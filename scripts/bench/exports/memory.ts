// The most memory that the server takes while it exports everything in one run, with more and more events.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Program } from '../../../test/end-to-end/program.ts'
import { met } from './compare.ts'
import { peakMb } from './process-figures.ts'
import type { SampleStore } from './sample-store.ts'
import { serve } from './served.ts'

/** The least that a server gives its engine by itself. */
const SERVER_MB = 96
const GOAL_MB = 700
const GOAL_GROWTH = 1.15
const REST_MS = 3_000
const FORMATS = [
  { name: 'Parquet zstd', config: { file_format: 'Parquet', compression: 'zstd' } },
  { name: 'JSONLines gzip', config: { file_format: 'JSONLines', compression: 'gzip' } },
]

/** Peaks by format, a figure for each number of events. */
export type Peaks = Map<string, number[]>

/** A new server for each format: a peak stays. PostgreSQL, its only child, does not count. */
export async function measureMemory(program: Program, store: SampleStore, peaks: Peaks): Promise<void> {
  for (const { name, config } of FORMATS) {
    const server = await serve(program, store, { EVENT_MEMORY_MB: String(SERVER_MB) })
    try {
      await sleep(REST_MS)
      const rest = peakMb(server.pid)
      await server.exportAll(config)
      const peak = peakMb(server.pid)
      peaks.set(name, [...(peaks.get(name) ?? []), peak])
      const label = `${name}, ${store.events} events`
      console.log(`memory   ${label}: peak ${peak.toFixed(0)} MB, before the export ${rest.toFixed(0)} MB`)
    } finally {
      await server.stop()
    }
  }
}

export function isMemoryWithinGoal(peaks: Peaks): boolean {
  const highest = Math.max(...[...peaks.values()].flat())
  const growth = Math.max(...[...peaks.values()].map((each) => each.at(-1)! / each[0]!))
  const isMet = highest < GOAL_MB && growth <= GOAL_GROWTH
  console.log(
    `memory   with EVENT_MEMORY_MB=${SERVER_MB} at most ${highest.toFixed(0)} MB, ${growth.toFixed(2)} times from the fewest to the most events; goal: below ${GOAL_MB} MB and flat (at most ${GOAL_GROWTH}): ${met(isMet)}`,
  )
  return isMet
}
