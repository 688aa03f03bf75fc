// `longshore migrate`: brings the database up to this version without starting the server.
import type { Command } from './command.ts'
import { withDatabase } from './with-database.ts'

export const migrate: Command = {
  name: 'migrate',
  description: 'upgrade the database to this version',
  async run() {
    const applied = await withDatabase(async (_db, names) => names)
    const lines =
      applied.length === 0
        ? ['nothing to do, the database is up to date']
        : applied.map((name) => `applied ${name}`)
    process.stdout.write(`${lines.join('\n')}\n`)
  },
}
