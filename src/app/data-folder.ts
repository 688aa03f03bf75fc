// Files that others on the machine may not read. New ones are closed by the umask that main.ts sets; this closes those of
// an earlier version. PostgreSQL's own are looked after where it is started.
import { chmod, lstat, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../lib/error-code.ts'
import type { Config } from './config.ts'
import { FIRST_START_FILE } from './first-start.ts'
import { pathsUnder } from '../platform/db/embedded/paths.ts'

/** What the program itself makes in DATA_DIR: whatever else an operator keeps there stays as it is. */
const OURS = [
  'events',
  'exports',
  'scratch',
  'secret.key',
  FIRST_START_FILE,
  'postgres.log',
  'postgres.log.1',
]

const OTHERS = 0o077

export async function closeDataFolder(dataDir: string): Promise<void> {
  for (const name of OURS) {
    const path = join(dataDir, name)
    if (await isOpenToOthers(path)) await close(path)
  }
}

/** The folder after what is in it: one that is closed was closed whole, however the process ended. */
async function close(path: string): Promise<void> {
  const found = await lstat(path)
  if (found.isSymbolicLink()) return
  if (found.isDirectory()) for (const name of await readdir(path)) await close(join(path, name))
  await chmod(path, found.mode & 0o777 & ~OTHERS)
}

async function isOpenToOthers(path: string): Promise<boolean> {
  try {
    const { mode, uid } = await lstat(path)
    const mayChange = process.getuid?.() === 0 || uid === process.getuid?.()
    return mayChange && (mode & OTHERS) !== 0
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'EACCES') return false
    throw error
  }
}

/** Whether a server was ever started on these settings; nobody can tell for a database of the user's own. */
export async function holdsInstallation({ DATABASE_URL, DATA_DIR }: Config): Promise<boolean> {
  if (DATABASE_URL !== null) return true
  try {
    await stat(pathsUnder(DATA_DIR).folder)
    return true
  } catch (error) {
    // A folder that cannot be read is told as such when it is opened.
    return errorCode(error) !== 'ENOENT'
  }
}
