// As which user PostgreSQL runs: it refuses root, so root hands it to another user. Called by embedded.ts; initdb.ts
// and postmaster.ts start their programs through it.

import { type ChildProcess, type SpawnOptions, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { errorCode } from '../../../lib/error-code.ts'
import type { Binaries } from './binaries.ts'
import type { Owner, ClusterPaths } from './paths.ts'

// systemd's list of user ids says of these: unused.
const SPARE = { first: 60_706, last: 61_183 }

type Starter = {
  /** Who must own what the programs write to; null: we do already. */
  owner: Owner | null
  start(file: string, args: string[], options?: SpawnOptions): ChildProcess
  /** Waits for its end; null is the code of what was killed or could not be started. */
  run(file: string, args: string[]): Promise<Result>
}

export type Runner = Starter & {
  /** For initdb, which looks its own user up by name; what it makes is handed over afterwards. */
  maker: Starter
}

type Result = { code: number | null; output: string }

export async function chooseRunner(
  paths: ClusterPaths,
  binaries: Binaries,
  running: { state: 'ready' | 'busy' | 'none' },
): Promise<Runner> {
  if (process.getuid?.() !== 0) {
    const itself = starter(binaries, null, {}, [])
    return { ...itself, maker: itself }
  }
  const folder = await stat(paths.folder).catch(() => null)
  const nobody = await findNobody()
  const { uid: owner } = await stat(paths.dataDir)
  // Root's own was copied or restored by root; one that root gave to nobody is of the time before there were spare users.
  const isRoots = folder?.uid === 0 || (owner === 0 && folder?.uid === nobody.uid)
  const isToMove = isRoots && running.state === 'none'
  // A folder made by an ordinary user stays theirs, so that they can start again without root.
  const owners =
    folder && !isToMove ? [{ uid: folder.uid, gid: folder.gid }] : [await findSpareUser(paths), nobody]
  const choice = await firstThatWorks(paths, binaries, owners, nobody)
  if (folder && isToMove) await moveTo(choice.owner, paths)
  return choice
}

/** Before anything in it is touched. A folder that we may not look into is closed by its owner. */
export async function assertOurs({ dataDir, folder }: ClusterPaths) {
  const uid = process.getuid?.()
  if (uid === 0) return
  const found = await stat(folder).catch(async (error: unknown) =>
    errorCode(error) === 'EACCES' ? await stat(dataDir) : null,
  )
  if (!found || found.uid === uid) return
  throw new Error(
    `${folder} belongs to user id ${found.uid}: start as that user (or as root), or set another DATA_DIR or a DATABASE_URL`,
  )
}

async function findNobody(): Promise<Owner> {
  const ask = async (flag: string) => Number((await promisify(execFile)('id', [flag, 'nobody'])).stdout)
  return { uid: await ask('-u'), gid: await ask('-g') }
}

/**
 * A user id that no account has: whoever else runs as `nobody` must not own the files of PostgreSQL. Another one for each
 * data folder, out of a range that systems leave alone. Afterwards the owner of the folder tells which.
 */
async function findSpareUser({ dataDir }: ClusterPaths): Promise<Owner> {
  const count = SPARE.last - SPARE.first + 1
  const start = createHash('sha256').update(dataDir).digest().readUInt32BE() % count
  for (let tried = 0; tried < count; tried++) {
    const uid = SPARE.first + ((start + tried) % count)
    const isTaken = await promisify(execFile)('id', [String(uid)]).then(
      () => true,
      () => false,
    )
    if (!isTaken) return { uid, gid: uid }
  }
  throw new Error(`all user ids from ${SPARE.first} to ${SPARE.last} are taken: start as an ordinary user`)
}

/** The socket's folder and the log are of the same owner. */
async function moveTo(owner: Owner | null, paths: ClusterPaths) {
  for (const path of [paths.folder, paths.socketFolder, paths.logFile]) {
    if (existsSync(path)) await giveWhole(owner, path)
  }
}

/**
 * The plain change of user does not get through a closed parent folder (a home of mode 0700) of DATA_DIR or of the
 * program. A capability does: reading alone where we have it, and dac_override, which Docker grants, otherwise. Where only
 * a few user ids exist (a container without root outside), `nobody` has to do.
 */
async function firstThatWorks(
  paths: ClusterPaths,
  binaries: Binaries,
  owners: readonly Owner[],
  nobody: Owner,
): Promise<Runner> {
  const ways = [
    (owner: Owner) => starter(binaries, owner, owner, []),
    ...['dac_read_search', 'dac_override'].map(
      (capability) => (owner: Owner) => starter(binaries, owner, {}, setpriv(owner, capability)),
    ),
  ]
  const probe = '"$0" --version >/dev/null && cd "$1"'
  const refusals: string[] = []
  for (const owner of owners) {
    for (const way of ways) {
      const choice = way(owner)
      const { code, output } = await choice.run('/bin/sh', ['-c', probe, binaries.postgres, paths.dataDir])
      if (code === 0) return { ...choice, maker: way(nobody) }
      refusals.push(output.trim())
    }
  }
  throw new Error(
    `PostgreSQL does not run as root, and user id ${owners[0]?.uid} cannot reach DATA_DIR (${paths.dataDir}) or ` +
      `${binaries.postgres}: start as an ordinary user, choose a DATA_DIR that others may pass through, or set ` +
      `DATABASE_URL (${[...new Set(refusals)].join('; ')})`,
  )
}

function setpriv({ uid, gid }: Owner, capability: string): string[] {
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  // no_setuid_fixup: without it access(2), with which initdb looks for postgres, ignores the capability.
  const rights = [
    `--inh-caps=+${capability}`,
    `--ambient-caps=+${capability}`,
    '--securebits=+no_setuid_fixup',
  ]
  return ['setpriv', ...identity, ...rights, '--']
}

function starter(
  binaries: Binaries,
  owner: Owner | null,
  identity: Partial<Owner>,
  prefix: string[],
): Starter {
  const start: Starter['start'] = (file, args, options) => {
    const [command = file, ...rest] = [...prefix, file, ...args]
    // The working directory may be closed to the other user.
    return spawn(command, rest, { ...identity, cwd: '/', env: binaries.env, ...options })
  }
  return { owner, start, run: async (file, args) => await finished(() => start(file, args)) }
}

async function finished(start: () => ChildProcess): Promise<Result> {
  return await new Promise((resolve) => {
    const fail = (error: unknown) => resolve({ code: null, output: String(error) })
    try {
      const child = start()
      let output = ''
      child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
      child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()))
      child.once('error', fail)
      child.once('close', (code) => resolve({ code, output }))
    } catch (error) {
      fail(error) // a change of user that is refused is thrown, not emitted
    }
  })
}

/** With everything in it; of links, the links themselves. */
export async function giveWhole(owner: Owner | null, path: string) {
  if (owner) await promisify(execFile)('chown', ['-hR', `${owner.uid}:${owner.gid}`, path])
}

export async function giveTo(owner: Owner | null, path: string) {
  if (owner) await chown(path, owner.uid, owner.gid)
}
