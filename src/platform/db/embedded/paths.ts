// Which files and folders our PostgreSQL uses under DATA_DIR, and the folder of its socket. Called by embedded.ts
// and postmaster.ts.

import { createHash } from 'node:crypto'
import { chmod, chown, lstat, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { errorCode } from '../../../lib/error-code.ts'

export const port = 5432 // only part of the socket's name: nothing listens on TCP

// What fits into sockaddr_un.sun_path beside its closing NUL.
const longestSocketPath = process.platform === 'darwin' ? 103 : 107

export type Owner = { uid: number; gid: number }

export type ClusterPaths = {
  dataDir: string
  folder: string
  socketFolder: string
  logFile: string
  passwordFile: string
  spareLinks: string
}

export function pathsUnder(dataDir: string): ClusterPaths {
  return {
    dataDir,
    folder: join(dataDir, 'postgres'),
    socketFolder: socketFolderFor(dataDir),
    logFile: join(dataDir, 'postgres.log'),
    passwordFile: join(dataDir, 'postgres.password'),
    spareLinks: join(dataDir, 'postgres-lib'),
  }
}

function socketFolderFor(dataDir: string): string {
  const beside = join(dataDir, 'run')
  if (Buffer.byteLength(join(beside, `.s.PGSQL.${port}`)) <= longestSocketPath) return beside
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  return join(tmpdir(), `longshore-${hash}`)
}

/** As root PostgreSQL runs as another user, who must get through to its files; nobody else gets anywhere. */
export function passingMode(): number {
  return process.getuid?.() === 0 ? 0o711 : 0o700
}

/** Others may pass through where PostgreSQL must, but never look around. One that is found is closed as well. */
export async function prepareDataDir(dataDir: string) {
  const firstMade = await mkdir(dataDir, { recursive: true, mode: 0o700 })
  for (let made = dataDir; firstMade && made.length >= firstMade.length; made = dirname(made)) {
    await chmod(made, passingMode())
  }
  const { mode, uid } = await lstat(dataDir)
  const mayChange = process.getuid?.() === 0 || uid === process.getuid?.()
  if (mayChange && (mode & 0o777) !== passingMode()) await chmod(dataDir, passingMode())
}

/** Whoever gets into this folder can ask for the password, so it is closed to all but PostgreSQL's user. */
export async function prepareSocketFolder(folder: string, owner: Owner | null) {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })
  const found = await lstat(folder)
  // Under the system's temporary directory anybody may have made it first, to listen in.
  const ours = found.uid === process.getuid?.() || found.uid === owner?.uid
  if (!found.isDirectory() || !ours)
    throw new Error(`${folder}, the folder of PostgreSQL's socket, belongs to somebody else`)
  if ((found.mode & 0o777) !== 0o700) await chmod(folder, 0o700)
  if (owner && found.uid !== owner.uid) await chown(folder, owner.uid, owner.gid)
}
