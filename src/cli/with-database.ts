// For commands that work on the metadata: beside a running server, or on their own.
import type { Config } from '../app/config.ts'
import { openMetadata } from '../app/services.ts'
import type { Database } from '../platform/db/database.ts'
import { openLog } from '../platform/log/log.ts'

/** The database, brought up to this version. Standard output is the command's own: faults are told on the other one. */
export async function withDatabase<T>(
  config: Config,
  work: (db: Database, applied: string[]) => Promise<T>,
): Promise<T> {
  const log = openLog({ level: 'warn', format: 'json', to: process.stderr })
  const metadata = await openMetadata(config, log, 'command')
  try {
    return await work(metadata.db, await metadata.migrate())
  } finally {
    await metadata.close()
  }
}
