// As which user PostgreSQL runs: it refuses root, so root hands it to another user. Called by embedded.ts; initdb.ts
// and postmaster.ts start their programs through it.

import { type ChildProcess, type SpawnOptions, execFile, spawn } from 'node:child_process'
import { chown, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Binaries } from './binaries.ts'
import type { Owner, Place } from './place.ts'

export type Runner = {
  /** Who must own what PostgreSQL writes to; null: we do already. */
  owner: Owner | null
  start(file: string, args: string[], options?: SpawnOptions): ChildProcess
  /** Waits for its end; null is the code of what was killed or could not be started. */
  run(file: string, args: string[]): Promise<Result>
}

type Result = { code: number | null; output: string }

export async function chooseRunner(place: Place, binaries: Binaries): Promise<Runner> {
  const folder = await stat(place.folder).catch(() => null)
  if (process.getuid?.() !== 0) {
    if (folder && folder.uid !== process.getuid?.()) {
      const owner = `user id ${folder.uid}`
      throw new Error(
        `${place.folder} belongs to ${owner}: start as that user (or as root), or set another DATA_DIR or a DATABASE_URL`,
      )
    }
    return runner(binaries, null, {}, [])
  }
  // A folder made by an ordinary user stays theirs, so that they can start again without root.
  const owner = folder && folder.uid !== 0 ? { uid: folder.uid, gid: folder.gid } : await findNobody()
  const choice = await firstThatWorks(place, binaries, owner)
  // Root's own folder is one that was copied or restored by root.
  if (folder?.uid === 0)
    await promisify(execFile)('chown', ['-hR', `${owner.uid}:${owner.gid}`, place.folder])
  return choice
}

async function findNobody(): Promise<Owner> {
  const ask = async (flag: string) => Number((await promisify(execFile)('id', [flag, 'nobody'])).stdout)
  return { uid: await ask('-u'), gid: await ask('-g') }
}

/**
 * The plain change of user does not get through a closed parent folder (a home of mode 0700) of DATA_DIR or of the
 * program. A capability does: reading alone where we have it, and dac_override, which Docker grants, otherwise.
 */
async function firstThatWorks(place: Place, binaries: Binaries, owner: Owner): Promise<Runner> {
  const choices = [
    runner(binaries, owner, owner, []),
    ...['dac_read_search', 'dac_override'].map((capability) =>
      runner(binaries, owner, {}, setpriv(owner, capability)),
    ),
  ]
  const probe = '"$0" --version >/dev/null && cd "$1"'
  const refusals: string[] = []
  for (const choice of choices) {
    const { code, output } = await choice.run('/bin/sh', ['-c', probe, binaries.postgres, place.dataDir])
    if (code === 0) return choice
    refusals.push(output.trim())
  }
  throw new Error(
    `PostgreSQL does not run as root, and user id ${owner.uid} cannot reach DATA_DIR (${place.dataDir}) or ` +
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

function runner(binaries: Binaries, owner: Owner | null, identity: Partial<Owner>, prefix: string[]): Runner {
  const start: Runner['start'] = (file, args, options) => {
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

export async function giveTo(owner: Owner | null, path: string) {
  if (owner) await chown(path, owner.uid, owner.gid)
}
