// Makes the data folder of PostgreSQL at the first start: whole or not at all. Called by embedded.ts.

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { user } from './client.ts'
import { errorCode } from '../../../lib/error-code.ts'
import { isAlive } from './pid-file.ts'
import { giveTo, giveWhole } from './run-as.ts'

// initdb takes a second, a minute on a very slow disk. In containers the id of a dead process is soon used again.
const longest_ms = 10 * 60_000

export async function ensureDataFolder(cluster: Cluster) {
  await removeLeftovers(cluster)
  const { folder, dataDir } = cluster.paths
  if (isDataFolder(folder)) return
  const making = join(dataDir, `postgres.init-${process.pid}-${randomBytes(4).toString('hex')}`)
  try {
    await mkdir(making, { mode: 0o700 })
    await giveTo(cluster.runner.maker.owner, making)
    await initdb(cluster, making)
    await giveWhole(cluster.runner.owner, making)
    await moveInto(making, folder)
  } finally {
    await rm(making, { recursive: true, force: true })
  }
  if (!isDataFolder(folder))
    throw new Error(`${folder} is not a data folder of PostgreSQL, and not empty: move it away`)
  await syncFolder(dataDir)
}

const isDataFolder = (folder: string) => existsSync(join(folder, 'PG_VERSION'))

async function initdb(cluster: Cluster, folder: string) {
  const fixed = [
    '-D',
    folder,
    '-U',
    user,
    '-E',
    'UTF8',
    '--auth-local=trust',
    '--auth-host=reject',
    '--locale=C',
  ]
  if (cluster.settings.fsync === 'off') fixed.push('--no-sync')
  const attempts = [['--locale-provider=builtin', '--builtin-locale=C.UTF-8'], []]
  let output = ''
  for (const locale of attempts) {
    const args = [...fixed, '--no-instructions', ...locale]
    const result = await cluster.runner.maker.run(cluster.binaries.initdb, args)
    if (result.code === 0) return
    output ||= result.output // the first refusal says more than that of the fallback
    if (result.code === null) break // stopped from outside, or never started
  }
  throw new Error(
    `the data folder of PostgreSQL could not be made in DATA_DIR (${cluster.paths.dataDir}); ` +
      `with DATABASE_URL set, your own PostgreSQL is used instead. initdb said:\n${output.trim()}`,
  )
}

async function moveInto(making: string, folder: string) {
  await rename(making, folder).catch((error: unknown) => {
    // A process starting beside us was faster; its folder is as good as ours.
    if (!['ENOTEMPTY', 'EEXIST'].includes(errorCode(error))) throw error
  })
}

async function syncFolder(folder: string) {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function removeLeftovers({ paths, log }: Cluster) {
  for (const name of await readdir(paths.dataDir)) {
    const pid = /^postgres\.init-(\d+)-/.exec(name)?.[1]
    if (!pid) continue
    const folder = join(paths.dataDir, name)
    const age_ms = Date.now() - ((await stat(folder).catch(() => null))?.mtimeMs ?? Date.now())
    if (isAlive(Number(pid)) && age_ms < longest_ms) continue
    // The initdb of a killed process may still be writing into it, hence the retries.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 }).then(
      () => log.info({ folder }, 'removed a half-made PostgreSQL folder'),
      (error: unknown) => log.warn({ folder, err: error }, 'could not remove a half-made PostgreSQL folder'),
    )
  }
}
