// `longshore migrate`: brings the database up to this version without starting the server.
import { migrateAll, openMetadata } from '../app/services.ts'
import { openLog } from '../platform/log/log.ts'
import type { Command } from './command.ts'
import { takeConfig } from './environment.ts'

export const migrate: Command = {
  name: 'migrate',
  description: 'bring the database up to this version',
  async run() {
    const config = takeConfig()
    const metadata = await openMetadata(config, openLog({ level: 'warn', format: 'pretty' }), 'command')
    try {
      const applied = await migrateAll(metadata.db)
      const text = applied.length === 0 ? 'nothing to do, the database is up to date' : applied.map((name) => `applied ${name}`).join('\n')
      process.stdout.write(`${text}\n`)
    } finally {
      await metadata.close()
    }
  },
}
