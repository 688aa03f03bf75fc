// Is there a PostgreSQL at work on our folder, and where does it listen? Called by postmaster.ts and server.ts.

import type { Client } from 'pg'
import { errorCode } from '../../../lib/error-code.ts'
import { connectIfListening } from './client.ts'
import type { Cluster } from './cluster.ts'
import { isPostmasterOf, readPidFile } from './pid-file.ts'
import type { ClusterPaths } from './paths.ts'

const WRONG_PASSWORD = '28P01'

type Found = { state: 'ready'; host: string; pid: number } | { state: 'busy' } | { state: 'none' }

/**
 * The socket is asked before the process list: under another container's process numbers it is the only one who knows
 * of a server on a shared folder.
 */
export async function findRunning({ paths, password }: Pick<Cluster, 'paths' | 'password'>): Promise<Found> {
  const file = await readPidFile(paths.folder)
  if (!file) return { state: 'none' }
  for (const host of new Set([paths.socketFolder, file.socketFolder ?? paths.socketFolder])) {
    const answer = await connectIfListening({ host, password }).catch((error: unknown) => {
      throw errorCode(error) === WRONG_PASSWORD ? anotherPassword(paths, file.pid) : error
    })
    if (answer === 'busy') return { state: 'busy' }
    if (answer === 'none') continue
    const ours = host === paths.socketFolder || (await servesFolder(answer, paths.folder))
    await answer.end()
    if (ours) return { state: 'ready', host, pid: file.pid }
  }
  return { state: isPostmasterOf(file.pid, paths.folder) ? 'busy' : 'none' }
}

function anotherPassword({ passwordFile }: ClusterPaths, pid: number): Error {
  return new Error(
    `PostgreSQL (process ${pid}) does not take the password in ${passwordFile}: put the right file back, or end that ` +
      'process, and a new password is made at the next start without the file',
  )
}

/** A folder copied while in use names the socket of the one it was copied from. */
async function servesFolder(client: Client, folder: string): Promise<boolean> {
  const sql = `select current_setting('data_directory') as folder`
  const answer = await client.query<{ folder: string }>(sql).catch(() => null)
  return answer?.rows[0]?.folder === folder
}
