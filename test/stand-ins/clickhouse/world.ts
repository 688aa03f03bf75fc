// ClickHouse's stand-in as a place for the conformance suite of destinations.
import { clickHouseKind } from '../../../src/features/batch-exports/destinations/clickhouse/kind.ts'
import type { DestinationKind } from '../../../src/features/batch-exports/destinations/destination.ts'
import type { World } from '../../../src/features/batch-exports/destinations/fixture/world.ts'
import { openOutbound } from '../../../src/platform/outbound/outbound.ts'
import type { Column } from './catalog.ts'
import { startClickHouse, type ClickHouseStandIn } from './server.ts'

export type ClickHouseWorld = World & { server: ClickHouseStandIn }

export const EVENT_TYPES = {
  uuid: 'UUID',
  event: 'String',
  properties: 'String',
  distinct_id: 'String',
  timestamp: "DateTime64(6, 'UTC')",
}

export async function openClickHouseWorld(): Promise<ClickHouseWorld> {
  const server = await startClickHouse()
  const outbound = openOutbound({ allow: ['127.0.0.1'] })
  return {
    server,
    kind: clickHouseKind as unknown as DestinationKind,
    config: server.config,
    wrong_credentials: { ...server.config, password: 'not the password' },
    outbound,
    settings: { export_folder: '', allow_plaintext: true },
    rows: () => server.catalog.read('events', ['properties', 'details']),
    async makeTableWithout(column) {
      const columns = columnsOf(EVENT_TYPES).filter(({ name }) => name !== column)
      const table = { engine: 'MergeTree', version: null, partition_key: '', order: ['uuid'] } as const
      await server.catalog.create('events', { ...table, columns })
    },
    leftovers: async () =>
      server.catalog.names().filter((name) => !['events', 'longshore_export_runs'].includes(name)),
    cuts: server.cuts,
    tamper: (statement) =>
      server.catalog.duck.run([statement.replaceAll('TABLE_', () => server.catalog.get('events').rows)]),
    async close() {
      await outbound.close()
      await server.close()
    },
  }
}

export function columnsOf(types: Record<string, string>): Column[] {
  return Object.entries(types).map(([name, type]) => ({ name, type, default_kind: '', expression: '' }))
}
