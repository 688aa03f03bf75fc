// For commands that work on the metadata: beside a running server, or on their own.
import { migrateAll, openMetadata, openServices } from '../app/services.ts'
import { openLog } from '../platform/log/log.ts'
import type { Services } from '../platform/services.ts'
import { takeConfig } from './environment.ts'

export async function withServices<T>(work: (services: Services) => Promise<T>): Promise<T> {
  const config = takeConfig()
  const log = openLog({ level: config.LOG_LEVEL === 'info' ? 'warn' : config.LOG_LEVEL, format: 'pretty' })
  const metadata = await openMetadata(config, log, 'command')
  try {
    await migrateAll(metadata.db)
    const services = await openServices(config, log, metadata.db, config.SITE_URL ?? `http://${config.HOST}:${config.PORT}`)
    try {
      return await work(services)
    } finally {
      await services.close()
    }
  } finally {
    await metadata.close()
  }
}
