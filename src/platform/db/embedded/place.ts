// Which files and folders our PostgreSQL uses under DATA_DIR, and the folder of its socket. Called by embedded.ts
// and postmaster.ts.

import { createHash } from 'node:crypto'
import { chmod, chown, lstat, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../../lib/error-code.ts'

export const port = 5432 // only part of the socket's name: nothing listens on TCP

// What fits into sockaddr_un.sun_path beside its closing NUL.
const longestSocketPath = process.platform === 'darwin' ? 103 : 107

export type Owner = { uid: number; gid: number }

export type Place = {
  dataDir: string
  folder: string
  socketFolder: string
  logFile: string
  spareLinks: string
}

export function placeUnder(dataDir: string): Place {
  return {
    dataDir,
    folder: join(dataDir, 'postgres'),
    socketFolder: socketFolderFor(dataDir),
    logFile: join(dataDir, 'postgres.log'),
    spareLinks: join(dataDir, 'postgres-lib'),
  }
}

function socketFolderFor(dataDir: string): string {
  const beside = join(dataDir, 'run')
  if (Buffer.byteLength(join(beside, `.s.PGSQL.${port}`)) <= longestSocketPath) return beside
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  return join(tmpdir(), `longshore-${hash}`)
}

/** Whoever gets into this folder is superuser of the database, so it must be ours alone. */
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
