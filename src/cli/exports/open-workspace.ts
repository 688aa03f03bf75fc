// Both stores and everything above them, for commands that do a server's work while none is running.
import type { Config } from '../../app/config.ts'
import { migrateAll, openEventStore, openMetadata, openServices } from '../../app/services.ts'
import { StoreTaken } from '../../platform/event-store/event-store.ts'
import { openLog } from '../../platform/log/log.ts'
import type { Services } from '../../platform/services.ts'
import { UserError } from '../command.ts'

export async function withWorkspace<T>(config: Config, work: (services: Services) => Promise<T>): Promise<T> {
  const log = openLog({ level: 'warn', format: 'json', to: process.stderr })
  const metadata = await openMetadata(config, log, 'command')
  try {
    await migrateAll(metadata.db)
    const eventStore = await openEventStore(config).catch((error: unknown) => {
      if (!(error instanceof StoreTaken)) throw error
      throw new UserError('a server is running on this data folder: stop it first, or ask it through its API')
    })
    try {
      const services = await openServices(config, log, metadata.db, eventStore, config.SITE_URL ?? '')
      try {
        return await work(services)
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
