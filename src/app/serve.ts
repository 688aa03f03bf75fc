// Start and stop, in order: settings → stores → migrations → listening → first owner → jobs; and back.
import type { FastifyInstance } from 'fastify'
import type { AddressInfo } from 'node:net'
import { ExportEngine } from '../features/batch-exports/engine/engine.ts'
import { addExportMetrics } from '../features/batch-exports/freshness/metrics.ts'
import { addVerificationMetrics } from '../features/batch-exports/verification/metrics.ts'
import { Verifier } from '../features/batch-exports/verification/verifier.ts'
import { addCapture } from '../features/events/capture/serve.ts'
import { Ingest } from '../features/events/ingest.ts'
import { syncInlinePlugins } from '../features/plugins/inline/sync.ts'
import { PluginRuntime } from '../features/plugins/running/runtime.ts'
import { addSiteApps } from '../features/plugins/site-apps/serve.ts'
import { within } from '../lib/within.ts'
import { openMetrics } from '../platform/http/metrics.ts'
import { buildServer } from '../platform/http/server.ts'
import { openLog, type Log } from '../platform/log/log.ts'
import type { Services } from '../platform/services.ts'
import { closedUntilReady } from './closed-until-ready.ts'
import { serverLimits, type Config } from './config.ts'
import { firstStartText, makeFirstOwner } from './first-start.ts'
import { access, routes } from './http.ts'
import { addPages } from './pages.ts'
import { migrateAll, openEventStore, openMetadata, openServices } from './services.ts'

export type RunningServer = { url: string; stop(): Promise<void> }

const REQUESTS_LIMIT_MS = 10_000
const IDLE_SWEEP_MS = 50
// Jobs at work may finish; without an answer of the database they never do.
const SERVICES_LIMIT_MS = 8_000

/** `now` is the real clock unless told otherwise. */
export async function serve(
  config: Config,
  print: (text: string) => void,
  { now }: { now?: () => Date } = {},
): Promise<RunningServer> {
  const log = openLog({
    level: config.LOG_LEVEL,
    format: config.LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json'),
  })
  const opened: Opened[] = []
  try {
    const metadata = await openMetadata(config, log, 'server')
    opened.push({ what: 'database', close: () => metadata.close() })
    for (const name of await migrateAll(metadata.db)) log.info({ name }, 'migration applied')
    const eventStore = await openEventStore(config, (error) => {
      // Only a fresh process gets the file back: whoever watches over us starts one.
      log.fatal({ err: error }, 'the event store fell')
      process.exitCode = 1
      process.kill(process.pid, 'SIGTERM')
    })
    opened.push({ what: 'event store', close: () => eventStore.close() })
    const services = await openServices(config, log, metadata.db, eventStore, config.SITE_URL ?? '', now)
    opened.push({ what: 'services', close: () => within(SERVICES_LIMIT_MS, services.close(), undefined) })
    const ingest = new Ingest(services, { transform: (...batch) => plugins.transform(...batch) })
    await ingest.catchUp()
    opened.push({ what: 'ingestion', close: () => ingest.close() })
    const plugins = new PluginRuntime(services, ingest)
    opened.push({ what: 'plugins', close: () => within(SERVICES_LIMIT_MS, plugins.close(), undefined) })
    await syncInlinePlugins(services.db, services.now())
    await plugins.refresh()
    const exports = new ExportEngine(services)
    opened.push({ what: 'exports', close: () => within(SERVICES_LIMIT_MS, exports.close(), undefined) })
    const verifier = new Verifier(services)
    opened.push({ what: 'verification', close: () => within(SERVICES_LIMIT_MS, verifier.close(), undefined) })
    const app = await buildApp(config, services, ingest, exports, verifier)
    opened.push({ what: 'HTTP', close: () => finishRequests(app) })
    const open = closedUntilReady(app)
    await app.listen({ host: config.HOST, port: config.PORT })
    const url = publicUrl(config) ?? addressOf(config.HOST, app.server.address() as AddressInfo)
    services.settings.site_url = url
    const first = await makeFirstOwner(services, config)
    open()
    await services.jobs.work(services)
    // Whoever holds the events' file is the only one who can be exporting from it.
    await exports.start({ takes_over: true })
    await verifier.start({ takes_over: true })
    plugins.start()
    print(first ? firstStartText(url, first) : `Longshore is ready at ${url}\n`)
    return {
      url,
      async stop() {
        await closeAll(opened, log)
        log.info('stopped')
      },
    }
  } catch (error) {
    await closeAll(opened, log)
    throw error
  }
}

async function buildApp(
  config: Config,
  services: Services,
  ingest: Ingest,
  exports: ExportEngine,
  verifier: Verifier,
): Promise<FastifyInstance> {
  const metrics = openMetrics()
  const { jobs } = services
  metrics.gauge('longshore_jobs_waiting', 'Background jobs not done yet.', () => jobs.countWaiting(), 'job')
  metrics.gauge(
    'longshore_jobs_failed',
    'Background jobs that were given up.',
    () => jobs.countFailed(),
    'job',
  )
  addExportMetrics(metrics, services, exports.tally)
  addVerificationMetrics(metrics, services, verifier)
  const app = buildServer({
    services,
    access,
    routes,
    metrics,
    trusted_proxies: config.TRUSTED_PROXIES,
    public_url: publicUrl(config),
    limits: serverLimits(config),
  })
  addCapture(app, services, ingest, addSiteApps(app, services))
  await addPages(app, services, metrics, config.METRICS_TOKEN)
  return app
}

/** Requests in flight may finish, their connections go as soon as they are idle; whoever takes longer is cut off. */
async function finishRequests(app: FastifyInstance): Promise<void> {
  const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS)
  const cutOff = setTimeout(() => app.server.closeAllConnections(), REQUESTS_LIMIT_MS)
  await app.close()
  clearInterval(sweep)
  clearTimeout(cutOff)
}

type Opened = { what: string; close(): Promise<void> }

/** In reverse order. What cannot be closed does not keep the others open. */
async function closeAll(opened: readonly Opened[], log: Log): Promise<void> {
  for (const { what, close } of opened.toReversed()) {
    await close().catch((error: unknown) => log.warn({ err: error }, `could not close: ${what}`))
  }
}

function publicUrl(config: Config): string | null {
  return config.SITE_URL?.replace(/\/$/, '') ?? null
}

function addressOf(host: string, { port }: AddressInfo): string {
  const isEverywhere = host === '0.0.0.0' || host === '::'
  return `http://${isEverywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`
}
