// The measured server: capture as `serve` puts it together, on the store for ClickHouse.
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { buildHttp, compose } from '../../../src/app/compose.ts'
import { readConfig } from '../../../src/app/config.ts'
import { makeFirstOwner } from '../../../src/app/first-start.ts'
import { migrateAll, openMetadata, openServices } from '../../../src/app/services.ts'
import { insertProject } from '../../../src/features/projects/queries.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import { openClickHouseStore } from '../../../src/platform/event-store/clickhouse/open.ts'
import { openLog } from '../../../src/platform/log/log.ts'

export type ScalingOrder = { folder: string; clickhouse_url: string; projects: number }
export type ScalingReady = { port: number; tokens: string[] }
/** Counters since the start: CPU of this process, and what PostgreSQL did. */
export type Counters = { cpu_us: number; commits: number; rows_written: number; wal_bytes: number }

export async function runScalingServer({ folder, clickhouse_url, projects }: ScalingOrder): Promise<void> {
  const config = readConfig({ RATE_LIMITS: 'off', SECRET_KEY: 'bench'.repeat(8), DATA_DIR: folder })
  const log = openLog({ level: 'info', format: 'json', to: { write() {} } })
  const { db, ...metadata } = await openMetadata(config, log, 'server')
  await migrateAll(db)
  const eventStore = await openClickHouseStore({
    url: clickhouse_url,
    cluster: null,
    db,
    staging: join(folder, 'staging'),
    memory_mb: 256,
    query_timeout_ms: 30_000,
  })
  const services = await openServices(config, log, db, eventStore, 'http://127.0.0.1')
  await makeFirstOwner(services, config)
  const { id } = await db.only<{ id: string }>(sql`SELECT id FROM organization`)
  for (let made = 1; made < projects; made++) await insertProject(db, id, {}, services.now())
  const parts = compose(services, config)
  const app = buildHttp(config, services, parts, null)
  await app.listen({ host: '127.0.0.1', port: 0 })

  const counters = async (): Promise<Counters> => {
    const { user, system } = process.cpuUsage()
    const row = await db.only<{ commits: string; rows_written: string; wal_bytes: string }>(sql`
      SELECT xact_commit AS commits, tup_inserted + tup_updated + tup_deleted AS rows_written,
        pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS wal_bytes
      FROM pg_stat_database WHERE datname = current_database()`)
    return {
      cpu_us: user + system,
      commits: Number(row.commits),
      rows_written: Number(row.rows_written),
      wal_bytes: Number(row.wal_bytes),
    }
  }
  const stop = async () => {
    await app.close()
    for (const part of Object.values(parts).toReversed()) await part.close()
    await services.close()
    await eventStore.close()
    await metadata.close()
    process.exit(0)
  }
  process.on('message', (message) => {
    if (message === 'stop') void stop()
    else void counters().then((counted) => process.send!(counted))
  })
  const found = await db.rows<{ api_token: string }>(sql`SELECT api_token FROM project ORDER BY id`)
  const { port } = app.server.address() as AddressInfo
  process.send!({ port, tokens: found.map(({ api_token }) => api_token) } satisfies ScalingReady)
}
