// Both stores and everything above them, for commands that do a server's work while none is running.
import type { Config } from '../../app/config.ts'
import { openEventStore, openMetadata, openServices } from '../../app/services.ts'
import type { Database } from '../../platform/db/database.ts'
import { StoreTaken } from '../../platform/event-store/event-store.ts'
import { openLog } from '../../platform/log/log.ts'
import type { Services } from '../../platform/services.ts'
import { UserError } from '../command.ts'

export function withWorkspace<T>(config: Config, work: (services: Services) => Promise<T>): Promise<T> {
  return withStores(config, (_db, services) => {
    if (services) return work(services)
    throw new UserError('a server is running on this data folder: stop it first')
  })
}

/** `services` are null while a server is running on the data folder: it has the events, and can be asked to do the work. */
export async function withStores<T>(
  config: Config,
  work: (db: Database, services: Services | null) => Promise<T>,
): Promise<T> {
  const log = openLog({ level: 'warn', format: 'json', to: process.stderr })
  const metadata = await openMetadata(config, log, 'command')
  try {
    const { db } = metadata
    await metadata.migrate()
    const eventStore = await openEventStore(config, db).catch((error: unknown) => {
      if (error instanceof StoreTaken) return null
      throw error
    })
    if (!eventStore) return await work(db, null)
    try {
      const services = await openServices(config, log, db, eventStore, config.SITE_URL ?? '')
      try {
        return await work(db, services)
      } finally {
        await services.close()
      }
    } finally {
      await eventStore.close()
    }
  } finally {
    await metadata.close()
  }
}
