// `longshore migrate`: brings the database, and ClickHouse where it is used, up to this version without starting the server.
import type { Config } from '../app/config.ts'
import { explainClickHouseFault } from '../app/start-faults.ts'
import type { Database } from '../platform/db/database.ts'
import { openClickHouse } from '../platform/event-store/clickhouse/client.ts'
import { upgradeClickHouse } from '../platform/event-store/clickhouse/upgrade.ts'
import type { Command } from './command.ts'
import { takeConfig } from './environment.ts'
import { withDatabase } from './with-database.ts'

export const migrate: Command = {
  name: 'migrate',
  description: 'upgrade the database to this version, and the tables in ClickHouse if CLICKHOUSE_URL is set',
  async run() {
    const config = takeConfig()
    const applied = await withDatabase(config, async (db, names) => [
      ...names.map((name) => `applied ${name}`),
      ...(await migrateClickHouse(config, db)).map((name) => `applied ${name} to ClickHouse`),
    ])
    const lines = applied.length === 0 ? ['nothing to do, the database is up to date'] : applied
    process.stdout.write(`${lines.join('\n')}\n`)
  },
}

async function migrateClickHouse(
  { CLICKHOUSE_URL: url, CLICKHOUSE_CLUSTER: cluster }: Config,
  db: Database,
): Promise<string[]> {
  if (url === null) return []
  const clickhouse = openClickHouse({ url, cluster })
  try {
    return await upgradeClickHouse(clickhouse, db)
  } catch (error) {
    throw explainClickHouseFault(url, error)
  } finally {
    await clickhouse.close()
  }
}
