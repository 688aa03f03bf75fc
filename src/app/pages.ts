// Paths beside the API: health, metrics, SCIM, the console, tools for agents, the OpenAPI document and the page to read it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addScim } from '../features/scim/serve.ts'
import { isSameText } from '../lib/same-text.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { pendingMigrations } from '../platform/db/migrate.ts'
import { sql } from '../platform/db/sql.ts'
import { denied, methodNotAllowed } from '../platform/http/errors.ts'
import type { Metrics } from '../platform/http/metrics.ts'
import type { Services } from '../platform/services.ts'
import { addApiSchema } from './api-schema.ts'
import { addConsole } from './console/serve.ts'
import { addDocsPage } from './docs-page.ts'
import { addMcp } from './mcp/serve.ts'

const READY_LIMIT_MS = 2_000

/** How this process is, whatever its roles. */
export function addHealth(
  app: FastifyInstance,
  services: Services,
  metrics: Metrics,
  metricsToken: string | null,
): void {
  addReadPath(app, '/_livez', async () => ({ status: 'ok' }))

  addReadPath(app, '/_readyz', async (_request, reply) => {
    const missing = await whatIsMissing(services)
    if (missing.length > 0) reply.code(503)
    return { status: missing.length === 0 ? 'ok' : 'not ready', missing }
  })

  addReadPath(app, '/metrics', async (request, reply) => {
    if (!mayReadMetrics(request, metricsToken)) {
      if (metricsToken !== null)
        await services.guesses.take({ kind: 'key', ip: request.ip, now: services.now() })
      throw denied('Metrics are shown to this machine only. Others need METRICS_TOKEN.')
    }
    return reply.type('text/plain; version=0.0.4').send(await metrics.text())
  })
}

export function addPages(app: FastifyInstance, services: Services): void {
  addScim(app, services)
  addConsole(app)
  addMcp(app, services)

  addApiSchema(app)
  addDocsPage(app)
}

/** Other methods are told what there is, as at the paths of the API. */
function addReadPath(
  app: FastifyInstance,
  path: string,
  answer: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  app.get(path, answer)
  app.route({
    method: ['POST', 'PUT', 'PATCH', 'DELETE'],
    url: path,
    handler: () => {
      throw methodNotAllowed('GET, HEAD')
    },
  })
}

function whatIsMissing({ db, eventStore }: Services): Promise<string[]> {
  const look = async () => {
    await db.row(sql`SELECT 1`)
    await eventStore.ping()
    return (await pendingMigrations(db)).map((name) => `migration ${name}`)
  }
  const noAnswer = () => ['database']
  return withTimeout(look().catch(noAnswer), READY_LIMIT_MS, noAnswer)
}

const LOOPBACK = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/
const FORWARDING_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
] as const

function mayReadMetrics(request: FastifyRequest, token: string | null): boolean {
  const given = /^bearer\s+(.+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (token !== null) return given !== undefined && isSameText(given, token)
  // The peer itself, not what a proxy says of it; and a proxy on this machine asks for others.
  const isForwarded = FORWARDING_HEADERS.some((name) => request.headers[name] !== undefined)
  return !isForwarded && LOOPBACK.test(request.socket.remoteAddress ?? '')
}
