// Start and stop, in order: settings → stores → migrations → listening → first owner → jobs; and back.
import type { AddressInfo } from 'node:net'
import { openMetrics } from '../platform/http/metrics.ts'
import { buildServer } from '../platform/http/server.ts'
import { openLog, type Log } from '../platform/log/log.ts'
import type { Config } from './config.ts'
import { firstStartText, makeFirstOwner } from './first-start.ts'
import { access, routes } from './http.ts'
import { addPages } from './pages.ts'
import { migrateAll, openMetadata, openServices } from './services.ts'

export type RunningServer = { url: string; stop(): Promise<void> }

const STOP_LIMIT_MS = 10_000

export async function serve(config: Config, print: (text: string) => void): Promise<RunningServer> {
  const log = openLog({ level: config.LOG_LEVEL, format: config.LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json') })
  const metadata = await openMetadata(config, log, 'server')
  try {
    for (const name of await migrateAll(metadata.db)) log.info({ name }, 'migration applied')
    return await listen(config, log, metadata, print)
  } catch (error) {
    await metadata.close()
    throw error
  }
}

async function listen(config: Config, log: Log, metadata: Awaited<ReturnType<typeof openMetadata>>, print: (text: string) => void) {
  const services = await openServices(config, log, metadata.db, config.SITE_URL ?? '')
  const metrics = openMetrics()
  metrics.gauge('longshore_jobs_failed', 'Background jobs that were given up.', () => services.jobs.countFailed(), 'job')
  const publicUrl = config.SITE_URL?.replace(/\/$/, '') ?? null
  const app = buildServer({ services, access, routes, metrics, trusted_proxies: config.TRUSTED_PROXIES, public_url: publicUrl })
  await addPages(app, services, metrics, config.METRICS_TOKEN)
  await app.listen({ host: config.HOST, port: config.PORT })
  const url = publicUrl ?? addressOf(config.HOST, app.server.address() as AddressInfo)
  services.settings.site_url = url
  const first = await makeFirstOwner(services, config)
  await services.jobs.work(services)
  print(first ? firstStartText(url, first) : `Longshore is ready at ${url}\n`)
  return {
    url,
    async stop() {
      // Idle connections go at once, requests in flight may finish; whoever takes longer is cut off.
      const cutOff = setTimeout(() => app.server.closeAllConnections(), STOP_LIMIT_MS)
      await app.close()
      clearTimeout(cutOff)
      await services.close()
      await metadata.close()
      log.info('stopped')
    },
  }
}

function addressOf(host: string, { port }: AddressInfo): string {
  const isEverywhere = host === '0.0.0.0' || host === '::'
  return `http://${isEverywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`
}
