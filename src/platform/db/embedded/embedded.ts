// The PostgreSQL that the program brings along, kept under DATA_DIR: opened by the server and by commands whenever no
// DATABASE_URL is set.

import { realpath } from 'node:fs/promises'
import { findBinaries } from './binaries.ts'
import { connectionTo } from './client.ts'
import type { Cluster, Log } from './cluster.ts'
import { openAsCommand } from './command.ts'
import { findRunning } from './find-running.ts'
import { ensureDataFolder } from './initdb.ts'
import { letPasswordBeSet, readPassword } from './password.ts'
import { pathsUnder, prepareDataDir } from './paths.ts'
import { assertOurs, chooseRunner } from './run-as.ts'
import { openAsServer } from './server.ts'

const database = 'longshore'

export type EmbeddedPostgres = {
  /** Options for pg.Pool and pg.Client; `host` is the folder of the socket. */
  connection: ReturnType<typeof connectionTo>
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
  /** Ends the opening: a PostgreSQL that is still starting is stopped. */
  signal?: AbortSignal
}): Promise<EmbeddedPostgres> {
  await prepareDataDir(options.dataDir)
  const paths = pathsUnder(await realpath(options.dataDir))
  await assertOurs(paths)
  const binaries = await findBinaries(paths.spareLinks)
  const { password, isNew } = readPassword(paths)
  const runner = await chooseRunner(paths, binaries, await findRunning({ paths, password }))
  const { settings = {}, log, signal = new AbortController().signal } = options
  const cluster: Cluster = { paths, binaries, runner, password, settings, log }
  await ensureDataFolder(cluster)
  if (isNew) await letPasswordBeSet(cluster)
  const open = options.role === 'server' ? openAsServer : openAsCommand
  const { host, stop } = await open(cluster, database, signal)
  return { connection: connectionTo({ host, password }, database), stop }
}
