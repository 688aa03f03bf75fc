// Databricks' stand-in as a place for the conformance suite of destinations.
import { databricksAt } from '../../../src/features/batch-exports/destinations/databricks/databricks.ts'
import { databricksKind } from '../../../src/features/batch-exports/destinations/databricks/kind.ts'
import type { DestinationKind } from '../../../src/features/batch-exports/destinations/destination.ts'
import type { World } from '../../../src/features/batch-exports/destinations/fixture/world.ts'
import { openOutbound } from '../../../src/platform/outbound/outbound.ts'
import { startDatabricks, type DatabricksStandIn } from './server.ts'

export type DatabricksWorld = World & { server: DatabricksStandIn }

const COLUMNS = {
  uuid: 'VARCHAR',
  event: 'VARCHAR',
  properties: 'JSON',
  distinct_id: 'VARCHAR',
  timestamp: 'TIMESTAMP',
}

export async function openDatabricksWorld(config: Record<string, unknown> = {}): Promise<DatabricksWorld> {
  const server = await startDatabricks()
  const outbound = openOutbound({ allow: ['127.0.0.1'] })
  const table = String(config.table_name ?? server.config.table_name)
  return {
    server,
    kind: {
      ...databricksKind,
      load: async () => databricksAt(() => server.url),
    } as unknown as DestinationKind,
    config: { ...server.config, ...config },
    wrong_credentials: { ...server.config, client_secret: 'not the secret' },
    outbound,
    settings: { export_folder: '', allow_plaintext: true },
    rows: () => server.tables.rows(table, ['properties', 'details']),
    async makeTableWithout(column) {
      const columns = Object.entries(COLUMNS).filter(([name]) => name !== column)
      const definitions = columns.map(([name, type]) => `"${name}" ${type}`)
      await server.tables.run([`CREATE TABLE "${table}" (${definitions.join(', ')})`])
    },
    leftovers: async () => [
      ...(await server.tables.names()).filter((name) => ![table, 'longshore_export_runs'].includes(name)),
      ...server.paths(),
    ],
    cuts: server.cuts,
    tamper: (statement) => server.tables.run([statement.replaceAll('TABLE_', `"${table}"`)]),
    async close() {
      await outbound.close()
      await server.close()
    },
  }
}
