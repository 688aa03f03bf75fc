// Snowflake's stand-in as a place for the conformance suite of destinations.
import { createRequire } from 'node:module'
import type { DestinationKind } from '../../../src/features/batch-exports/destinations/destination.ts'
import type { World } from '../../../src/features/batch-exports/destinations/fixture/world.ts'
import { snowflakeKind } from '../../../src/features/batch-exports/destinations/snowflake/kind.ts'
import { snowflakeAt } from '../../../src/features/batch-exports/destinations/snowflake/snowflake.ts'
import { openOutbound } from '../../../src/platform/outbound/outbound.ts'
import { startSnowflake, type SnowflakeStandIn } from './server.ts'

export type SnowflakeWorld = World & { server: SnowflakeStandIn }

const COLUMNS = {
  uuid: 'VARCHAR',
  event: 'VARCHAR',
  properties: 'JSON',
  distinct_id: 'VARCHAR',
  timestamp: 'TIMESTAMP',
}

export async function openSnowflakeWorld(config: Record<string, unknown> = {}): Promise<SnowflakeWorld> {
  quietenDriver()
  const server = await startSnowflake()
  const outbound = openOutbound({ allow: ['127.0.0.1'] })
  const table = String(config.table_name ?? server.config.table_name)
  const umask = process.umask()
  return {
    server,
    kind: {
      ...snowflakeKind,
      hosts: () => [new URL(server.url).hostname],
      load: async () => snowflakeAt(() => server.url),
    } as unknown as DestinationKind,
    config: { ...server.config, ...config },
    wrong_credentials: { ...server.config, password: 'not the password' },
    outbound,
    settings: { export_folder: '', allow_plaintext: true },
    rows: () => server.tables.rows(table, ['properties', 'details']),
    async makeTableWithout(column) {
      const columns = Object.entries(COLUMNS).filter(([name]) => name !== column)
      const definitions = columns.map(([name, type]) => `"${name}" ${type}`)
      await server.tables.run([`CREATE TABLE "${table}" (${definitions.join(', ')})`])
    },
    leftovers: async () =>
      (await server.tables.names()).filter((name) => ![table, 'longshore_export_runs'].includes(name)),
    cuts: server.cuts,
    tamper: (statement) => server.tables.run([statement.replaceAll('TABLE_', `"${table}"`)]),
    async close() {
      // The driver sets it for every process that copies a file to a local stage.
      process.umask(umask)
      await outbound.close()
      await server.close()
    },
  }
}

/** Before it is loaded: it would look for the cloud it runs in, and waits for seconds before it tries again. */
function quietenDriver(): void {
  process.env.SNOWFLAKE_DISABLE_PLATFORM_DETECTION = 'true'
  const patience = createRequire(import.meta.url)('snowflake-sdk/dist/lib/util.js') as {
    nextSleepTime: () => number
    getJitteredSleepTime: () => { sleep: number; totalElapsedTime: number }
  }
  patience.nextSleepTime = () => 0.01
  patience.getJitteredSleepTime = () => ({ sleep: 0.01, totalElapsedTime: 0.01 })
}
