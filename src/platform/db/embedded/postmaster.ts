// Starts the server process of PostgreSQL, or adopts the one that runs already. Called by server.ts and command.ts.

import { setTimeout as sleep } from 'node:timers/promises'
import { isPassing } from './client.ts'
import type { Cluster } from './cluster.ts'
import { findRunning } from './find-running.ts'
import { lastLines, openLogFile } from './log-file.ts'
import { removeMisleadingLocks } from './pid-file.ts'
import { prepareSocketFolder } from './paths.ts'
import { demandPassword } from './password.ts'
import { commandLine } from './settings.ts'

const startLimit_ms = 30_000
const poll_ms = 25

export type Running = { host: string; startedHere: boolean }

/**
 * Has a PostgreSQL running and lets `use` meet it. One that was found may be on its way down, stopped by the process
 * it belonged to: then it starts over.
 */
export async function withPostgres<T>(
  cluster: Cluster,
  signal: AbortSignal,
  use: (running: Running) => Promise<T>,
): Promise<T> {
  const deadline = Date.now() + startLimit_ms
  for (;;) {
    const running = await startOrAdopt(cluster, signal, deadline)
    try {
      await demandPassword(cluster, running.host)
      return await use(running)
    } catch (error) {
      if (!isPassing(error) || Date.now() > deadline) throw error
    }
    await sleep(poll_ms, undefined, { signal })
  }
}

/** Two processes may do this at once: PostgreSQL's lock on its folder lets one of theirs live, and both use that. */
async function startOrAdopt(cluster: Cluster, signal: AbortSignal, deadline: number): Promise<Running> {
  let child: Child | null = null
  while (Date.now() < deadline) {
    const found = await findRunning(cluster)
    if (found.state === 'ready') {
      const startedHere = child?.pid === found.pid
      if (!startedHere) cluster.log.info({ pid: found.pid }, 'PostgreSQL runs already, using it')
      return { host: found.host, startedHere }
    }
    if (found.state === 'none') {
      if (child?.ended) await assertWorthAnotherTry(cluster, child)
      if (!child || child.ended) child = await spawnPostgres(cluster)
    }
    await sleep(poll_ms, undefined, { signal }).catch(async (error: unknown) => {
      await child?.stop() // nobody can have used it yet
      throw error
    })
  }
  const { dataDir, logFile } = cluster.paths
  const said = child ? await lastLines(logFile, child.from) : ''
  throw new Error(
    `PostgreSQL in DATA_DIR (${dataDir}) did not answer within 30 seconds; see ${logFile}\n${said}`,
  )
}

type Child = { pid: number | undefined; ended: string | null; from: number; stop(): Promise<void> }

async function spawnPostgres({ paths, runner, binaries, settings, log }: Cluster): Promise<Child> {
  await prepareSocketFolder(paths.socketFolder, runner.owner)
  removeMisleadingLocks(paths)
  const { handle, from } = await openLogFile(paths.logFile, runner.owner)
  try {
    const started = runner.start(binaries.postgres, commandLine(paths, settings), {
      stdio: ['ignore', handle.fd, handle.fd],
      detached: true, // a session of its own: Ctrl-C is for us, and we stop it last
    })
    const stop = async () => {
      started.kill('SIGINT')
      while (child.ended === null) await sleep(poll_ms)
    }
    const child: Child = { pid: started.pid, ended: null, from, stop }
    started.once('error', (error) => (child.ended = error.message))
    started.once(
      'exit',
      (code, signal) => (child.ended ??= signal ? `signal ${signal}` : `exit code ${code}`),
    )
    started.unref()
    log.info({ pid: started.pid, folder: paths.folder }, 'starting PostgreSQL')
    return child
  } finally {
    await handle.close()
  }
}

async function assertWorthAnotherTry({ paths }: Cluster, child: Child) {
  const said = await lastLines(paths.logFile, child.from)
  // Another process was faster, or processes of a killed server have not noticed its death yet.
  if (/lock file ".*" already exists|pre-existing shared memory block/.test(said)) return await sleep(200)
  throw new Error(
    `PostgreSQL did not start in DATA_DIR (${paths.dataDir}): ${child.ended}. Last lines of ${paths.logFile}:\n${said}`,
  )
}
