// The measured server in a process of its own, as `serve` puts it together, with a few questions the bench may ask it.
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { buildHttp, compose } from '../../../src/app/compose.ts'
import { readConfig } from '../../../src/app/config.ts'
import { migrateAll, openEventStore, openMetadata, openServices } from '../../../src/app/services.ts'
import { makeFirstOwner } from '../../../src/app/first-start.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import type { StoreQuery } from '../../../src/platform/event-store/event-store.ts'
import { openLog } from '../../../src/platform/log/log.ts'

export const KEY = `phx_${'bench0'.repeat(6)}`

export type Ready = { port: number; token: string; project_id: number }
export type Report = { loop_p99_ms: number; last_query: StoreQuery | null }

export async function runEventServer(folder: string): Promise<void> {
  const config = readConfig({
    RATE_LIMITS: 'off',
    SECRET_KEY: 'bench'.repeat(8),
    DATA_DIR: folder,
    BOOTSTRAP_API_KEY: KEY,
    // What apps call is on this machine.
    OUTBOUND_ALLOW: '127.0.0.0/8',
  })
  const log = openLog({ level: 'info', format: 'json', to: { write() {} } })
  const metadata = await openMetadata(config, log, 'server')
  await migrateAll(metadata.db)
  const eventStore = await openEventStore(config, metadata.db)
  let last_query: StoreQuery | null = null
  const watched = {
    ...eventStore,
    query(query: StoreQuery) {
      last_query = query
      return eventStore.query(query)
    },
  }
  const services = await openServices(config, log, metadata.db, watched, 'http://127.0.0.1')
  await makeFirstOwner(services, config)
  const parts = compose(services, config)
  await parts.plugins.refresh()
  const app = buildHttp(config, services, parts, null)
  await app.listen({ host: '127.0.0.1', port: 0 })
  await parts.plugins.start({ works: true, takes_over: true })
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  process.on('message', (message) => {
    if (message === 'stop') void stop()
    else process.send!(report())
  })

  function report(): Report {
    // The histogram measures the timer as well: what is late is what exceeds its period.
    const loop_p99_ms = delay.percentile(99) / 1e6 - 10
    delay.reset()
    return { loop_p99_ms, last_query }
  }

  async function stop(): Promise<void> {
    await app.close()
    for (const part of Object.values(parts).toReversed()) await part.close()
    await services.close()
    await eventStore.close()
    await metadata.close()
    process.exit(0)
  }

  const project = await metadata.db.only<{ id: number; api_token: string }>(
    sql`SELECT id, api_token FROM project`,
  )
  const { port } = app.server.address() as AddressInfo
  process.send!({ port, token: project.api_token, project_id: project.id } satisfies Ready)
}
