// BigQuery's stand-in as a place for the conformance suite of destinations.
import { bigQueryAt } from '../../../src/features/batch-exports/destinations/bigquery/bigquery.ts'
import { bigQueryKind } from '../../../src/features/batch-exports/destinations/bigquery/kind.ts'
import type { DestinationKind } from '../../../src/features/batch-exports/destinations/destination.ts'
import type { World } from '../../../src/features/batch-exports/destinations/fixture/world.ts'
import { openOutbound } from '../../../src/platform/outbound/outbound.ts'
import { startBigQuery, type BigQueryStandIn } from './server.ts'

export type BigQueryWorld = World & { server: BigQueryStandIn }

const FIELDS = [
  { name: 'uuid', type: 'STRING' },
  { name: 'event', type: 'STRING' },
  { name: 'properties', type: 'STRING' },
  { name: 'distinct_id', type: 'STRING' },
  { name: 'timestamp', type: 'TIMESTAMP' },
]

export async function openBigQueryWorld(config: Record<string, unknown> = {}): Promise<BigQueryWorld> {
  const server = await startBigQuery()
  const outbound = openOutbound({ allow: ['127.0.0.1'] })
  const table = String(config.table_id ?? server.config.table_id)
  return {
    server,
    kind: { ...bigQueryKind, load: async () => bigQueryAt(server.url) } as unknown as DestinationKind,
    config: { ...server.config, ...config },
    wrong_credentials: { ...server.config, private_key_id: 'no such key' },
    outbound,
    settings: { export_folder: '', allow_plaintext: true },
    rows: () => server.tables.rows(table, ['properties', 'details']),
    makeTableWithout: (column) =>
      server.createTable(
        table,
        FIELDS.filter(({ name }) => name !== column),
      ),
    leftovers: async () =>
      (await server.tables.names()).filter((name) => ![table, 'longshore_export_runs'].includes(name)),
    cuts: server.cuts,
    tamper: (statement) => server.tables.run([statement.replaceAll('TABLE_', `"${table}"`)]),
    async close() {
      await outbound.close()
      await server.close()
    },
  }
}
