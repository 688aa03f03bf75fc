// The real server at any hour, and a look into its database, for as long as something is done with it.
import { openDatabase, type Database } from '../../src/platform/db/database.ts'
import { connectionOf, type Env } from '../../test/end-to-end/program.ts'
import { KEY } from '../crash/first-project.ts'
import { startServer } from './crash/server-process.ts'

const SETTINGS = {
  BOOTSTRAP_API_KEY: KEY,
  OUTBOUND_ALLOW: '127.0.0.0/8',
  ALLOW_PLAINTEXT: 'on',
  RATE_LIMITS: 'off',
}

export type OnServer = { url: string; pid: number; db: Database; now: () => Date }

/** `offset_ms` is how far its clock is ahead. */
export async function withServer<T>(
  main: string,
  env: Env & { DATA_DIR: string },
  offset_ms: number,
  work: (server: OnServer) => Promise<T>,
): Promise<T> {
  const server = await startServer(main, { ...SETTINGS, ...env }, offset_ms)
  const db = openDatabase({ ...connectionOf(env.DATA_DIR), max: 1 })
  try {
    const { url, pid } = server
    return await work({ url, pid, db, now: () => new Date(Date.now() + offset_ms) })
  } finally {
    await db.close()
    await server.stop()
  }
}
