// The PostgreSQL that the program brings along, kept under DATA_DIR: opened by the server and by commands whenever no
// DATABASE_URL is set.

import { mkdir, realpath } from 'node:fs/promises'
import { findBinaries } from './binaries.ts'
import { connectionTo } from './client.ts'
import type { Cluster, Log } from './cluster.ts'
import { openAsCommand } from './command.ts'
import { ensureDataFolder } from './initdb.ts'
import { placeUnder } from './place.ts'
import { chooseRunner } from './run-as.ts'
import { openAsServer } from './server.ts'

const database = 'longshore'

export type EmbeddedPostgres = {
  /** Options for pg.Pool and pg.Client; `host` is the folder of the socket. */
  connection: { host: string; port: number; user: string; database: string; ssl: false }
  /** Stops PostgreSQL where it is ours to stop (see `role`). Close the pools before. */
  stop(): Promise<void>
}

export async function openEmbeddedPostgres(options: {
  /** Absolute; PostgreSQL lives in its folder `postgres`. */
  dataDir: string
  log: Log
  /**
   * The server is the only one on its folder, brings PostgreSQL back when it dies and stops it at the end. A command
   * may run beside it, and stops only what it started itself and nobody else uses.
   */
  role: 'server' | 'command'
  /** Further settings of PostgreSQL; tests use fsync=off. */
  settings?: Record<string, string>
}): Promise<EmbeddedPostgres> {
  // Others may pass through (as root PostgreSQL runs as another user) but not look around.
  await mkdir(options.dataDir, { recursive: true, mode: 0o711 })
  const place = placeUnder(await realpath(options.dataDir))
  const binaries = await findBinaries(place.spareLinks)
  const runner = await chooseRunner(place, binaries)
  const cluster: Cluster = { place, binaries, runner, settings: options.settings ?? {}, log: options.log }
  await ensureDataFolder(cluster)
  const open = options.role === 'server' ? openAsServer : openAsCommand
  const { host, stop } = await open(cluster, database)
  return { connection: connectionTo(host, database), stop }
}
