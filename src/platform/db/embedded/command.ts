// PostgreSQL for a command of the command line: beside a running server it uses the server's, otherwise it starts one
// and stops it afterwards. Called by embedded.ts.

import { announceVisit, isLastVisitor } from './claim.ts'
import { ensureDatabase } from './client.ts'
import type { Cluster } from './cluster.ts'
import { withPostgres } from './postmaster.ts'
import { stopPostgres } from './stop.ts'

export async function openAsCommand(cluster: Cluster, database: string, signal: AbortSignal) {
  let startedHere = false
  const { host, visit } = await withPostgres(cluster, signal, async (running) => {
    startedHere = running.startedHere
    const door = { host: running.host, password: cluster.password }
    await ensureDatabase(door, database)
    return { host: running.host, visit: await announceVisit(door) }
  })
  let stopped: Promise<void> | undefined
  return { host, stop: async () => await (stopped ??= stop()) }

  async function stop() {
    // A lost connection says that the PostgreSQL we started is gone: what runs now is somebody else's.
    if (startedHere && (await isLastVisitor(visit).catch(() => false))) await stopPostgres(cluster)
    await visit.end().catch(() => undefined)
  }
}
