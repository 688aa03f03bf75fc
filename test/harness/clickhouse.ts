// Databases in ClickHouse for tests that want one; CLICKHOUSE_URL says where it is (`npm run test:clickhouse`). With
// TEST_ENGINE=clickhouse the events of every test application lie there.
import { randomBytes } from 'node:crypto'
import { openClickHouse, type ClickHouse } from '../../src/platform/event-store/clickhouse/client.ts'

/** Null: no ClickHouse is there to test with. */
export const CLICKHOUSE_ADDRESS = process.env.CLICKHOUSE_URL ?? null

export const TEST_ENGINE = process.env.TEST_ENGINE === 'clickhouse' ? 'clickhouse' : 'duckdb'

export async function makeClickHouseDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const server = openTestClickHouse()
  await server.command(`CREATE DATABASE ${name}`)
  return {
    url: addressOf(name),
    async drop() {
      await server.command(`DROP DATABASE ${name}`)
      await server.close()
    },
  }
}

/** Without a database. */
export function openTestClickHouse(): ClickHouse {
  return openClickHouse({ url: addressOf(null), cluster: null })
}

function addressOf(database: string | null): string {
  const url = new URL(CLICKHOUSE_ADDRESS!)
  url.username ||= encodeURIComponent(process.env.CLICKHOUSE_USER ?? '')
  url.password ||= encodeURIComponent(process.env.CLICKHOUSE_PASSWORD ?? '')
  if (database !== null) url.pathname = `/${database}`
  return url.href
}
