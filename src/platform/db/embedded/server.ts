// PostgreSQL for the server: claims the data folder, brings PostgreSQL back when it dies, stops it at the end.
// Called by embedded.ts.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Claim, takeClaim } from './claim.ts'
import { ensureDatabase } from './client.ts'
import type { Cluster } from './cluster.ts'
import { findRunning } from './find-running.ts'
import { withPostgres } from './postmaster.ts'
import { stopPostgres } from './stop.ts'

const longestPause_ms = 5000

export async function openAsServer(cluster: Cluster, database: string, signal: AbortSignal) {
  const stopping = new AbortController()
  const first = await startAndClaim(cluster, database, signal)
  if ('holder' in first) throw new Error(alreadyRunning(cluster, first.holder))
  // Pools hold on to this path, so every later start uses it too.
  const settled = { ...cluster, paths: { ...cluster.paths, socketFolder: first.host } }

  let held: Claim | null = first
  const supervision = supervise()
  let stopped: Promise<void> | undefined
  return { host: first.host, stop: async () => await (stopped ??= stop()) }

  async function supervise() {
    const stop = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()))
    while (held) {
      await Promise.race([held.lost, stop])
      if (stopping.signal.aborted) return
      held = null
      cluster.log.warn({ folder: cluster.paths.folder }, 'lost PostgreSQL, bringing it back')
      held = await regain(settled, database, stopping.signal)
    }
  }

  async function stop() {
    stopping.abort()
    await supervision
    const claim = held ?? (await claimNow(settled))
    // Held to the end: no other server gets hold of a PostgreSQL that is about to go.
    if (claim) await stopPostgres(settled)
    await claim?.client.end().catch(() => undefined)
  }
}

async function startAndClaim(cluster: Cluster, database: string, signal: AbortSignal) {
  return await withPostgres(cluster, signal, async ({ host }) => {
    const door = { host, password: cluster.password }
    await ensureDatabase(door, database)
    return { host, ...(await takeClaim(door, 3000)) }
  })
}

/** Tries until it has the claim again, or null once we are stopping. */
async function regain(cluster: Cluster, database: string, signal: AbortSignal): Promise<Claim | null> {
  for (let pause_ms = 100; ; pause_ms = Math.min(pause_ms * 2, longestPause_ms)) {
    try {
      const result = await startAndClaim(cluster, database, signal)
      if (!('holder' in result)) {
        cluster.log.info({ folder: cluster.paths.folder }, 'PostgreSQL is back')
        return result
      }
      cluster.log.error({ holder: result.holder }, alreadyRunning(cluster, result.holder))
    } catch (error) {
      if (!signal.aborted) cluster.log.error({ err: error }, 'PostgreSQL does not come back, trying again')
    }
    await sleep(pause_ms, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return null
  }
}

/** For a stop in the middle of a restart. */
async function claimNow(cluster: Cluster): Promise<Claim | null> {
  try {
    const found = await findRunning(cluster)
    const door = found.state === 'ready' ? { host: found.host, password: cluster.password } : null
    const result = door && (await takeClaim(door, 0))
    return result && 'client' in result ? result : null
  } catch (error) {
    cluster.log.warn({ err: error }, 'could not look for a PostgreSQL to stop')
    return null
  }
}

function alreadyRunning({ paths }: Cluster, holder: string): string {
  return `another Longshore is already running on this DATA_DIR (${paths.dataDir}): ${holder}`
}
