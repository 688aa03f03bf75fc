// Reads postmaster.pid, PostgreSQL's own lock on its data folder, and tells whether its process is still there.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { errorCode } from '../../../lib/error-code.ts'
import { type ClusterPaths, port } from './paths.ts'

export type PidFile = { pid: number; socketFolder: string | null }

export async function readPidFile(folder: string): Promise<PidFile | null> {
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '')
  const [pid, , , , socketFolder] = text.split('\n') // the socket's folder is written a moment after the rest
  return Number(pid) > 0 ? { pid: Number(pid), socketFolder: socketFolder?.trim() || null } : null
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/**
 * Is this process the PostgreSQL on our folder, and not another one that got the same number later? A zombie has no
 * command line and counts as gone: as the first process of a container we are not the one to reap it.
 */
export function isPostmasterOf(pid: number, folder: string): boolean {
  if (process.platform !== 'linux') return isAlive(pid)
  try {
    // Readable for everybody, unlike /proc/<pid>/exe and cwd, which root in Docker may not follow.
    const [file = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return basename(file) === 'postgres' && args.includes(folder)
  } catch {
    return false
  }
}

/**
 * PostgreSQL clears the lock files of a dead process, but gives up where the number now belongs to another live one,
 * as it may whenever a container starts again after a kill. Read and removed without a pause between, because a
 * process starting beside us may be writing a new one; PostgreSQL's shared memory guards that last gap.
 */
export function removeMisleadingLocks(paths: ClusterPaths) {
  if (process.platform !== 'linux') return // elsewhere nothing tells whose number it is
  const files = [join(paths.folder, 'postmaster.pid'), join(paths.socketFolder, `.s.PGSQL.${port}.lock`)]
  for (const file of files.filter((name) => existsSync(name))) {
    const pid = Number(readFileSync(file, 'utf8').split('\n')[0])
    if (pid > 0 && isAlive(pid) && !isPostmasterOf(pid, paths.folder)) rmSync(file, { force: true })
  }
}
