// The one place where the parts of the program are put together: the ones `serve` starts are the ones that tests move by hand,
// and that fuzz and bench measure.
import type { FastifyInstance } from 'fastify'
import { ExportEngine } from '../features/batch-exports/engine/engine.ts'
import { addExportMetrics } from '../features/batch-exports/freshness/metrics.ts'
import { addVerificationMetrics } from '../features/batch-exports/verification/metrics.ts'
import { Verifier } from '../features/batch-exports/verification/verifier.ts'
import { DefinitionStream, type DefinitionStreamOptions } from '../features/definitions/stream.ts'
import { addCapture } from '../features/events/capture/serve.ts'
import { Ingest } from '../features/events/ingest.ts'
import { addIngestMetrics } from '../features/events/metrics.ts'
import { openIntake } from '../features/events/open-intake.ts'
import { addPluginMetrics } from '../features/plugins/running/metrics.ts'
import { PluginRuntime } from '../features/plugins/running/runtime.ts'
import { addSiteApps } from '../features/plugins/site-apps/serve.ts'
import { openMetrics, type Metrics } from '../platform/http/metrics.ts'
import { buildServer } from '../platform/http/server.ts'
import type { Services } from '../platform/services.ts'
import { serverLimits, type Config } from './config.ts'
import { access, routes } from './http.ts'
import { tellOfInstance } from './instance/facts.ts'
import { keepDoors } from './doors.ts'
import { addHealth, addPages } from './pages.ts'

/** In the order in which they are opened; they are closed the other way round. */
export type Parts = {
  definitions: DefinitionStream
  ingest: Ingest
  plugins: PluginRuntime
  exports: ExportEngine
  verifier: Verifier
}

/** Nothing is at work yet: whoever composes decides what moves, and when. */
export function compose(services: Services, config: Config, options: DefinitionStreamOptions = {}): Parts {
  const definitions = new DefinitionStream(services, options)
  const ingest = new Ingest(services, {
    transform: (...batch) => plugins.transform(...batch),
    observe: (...event) => definitions.observe(...event),
  })
  openIntake(services, ingest)
  const plugins = new PluginRuntime(services, ingest)
  tellOfInstance(services, { config, ingest, plugins })
  return {
    definitions,
    ingest,
    plugins,
    exports: new ExportEngine(services),
    verifier: new Verifier(services),
  }
}

export async function closeParts({ definitions, ingest, plugins, exports, verifier }: Parts): Promise<void> {
  for (const part of [verifier, exports, plugins, ingest, definitions]) await part.close()
}

/** `public_url`: where people reach the server, if that is known. */
export function buildHttp(
  config: Config,
  services: Services,
  parts: Parts,
  public_url: string | null,
): FastifyInstance {
  const { ingest, plugins } = parts
  const metrics = openMetrics()
  addMetrics(metrics, services, parts)
  const http = buildServer({
    services,
    access: plugins.api.extend(access),
    routes,
    metrics,
    trusted_proxies: config.TRUSTED_PROXIES,
    public_url,
    limits: serverLimits(config),
  })
  const behind = keepDoors(http, config.ROLES, (request) => plugins.api.isCalling(request))
  behind('every role', () => addHealth(http, services, metrics, config.METRICS_TOKEN))
  behind('capture', () => addCapture(http, services, ingest, addSiteApps(http, services)))
  if (config.ROLES.includes('api')) addPages(http, services)
  plugins.api.serveBy(http)
  return http
}

function addMetrics(
  metrics: Metrics,
  services: Services,
  { ingest, plugins, exports, verifier }: Parts,
): void {
  const { jobs } = services
  metrics.gauge('longshore_jobs_waiting', 'Background jobs not done yet.', () => jobs.countWaiting(), 'job')
  metrics.gauge(
    'longshore_jobs_failed',
    'Background jobs that were given up.',
    () => jobs.countFailed(),
    'job',
  )
  addIngestMetrics(metrics, ingest)
  addExportMetrics(metrics, services, exports.tally)
  addVerificationMetrics(metrics, services, verifier)
  addPluginMetrics(metrics, plugins)
}
