// The HTTP server: every path once, whatever its methods, so that 404 comes before and 405 after the credentials.
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import type { Socket } from 'node:net'
import type { Services } from '../services.ts'
import type { Access } from './access.ts'
import { readRawBody, type RawBody } from './body.ts'
import { Connections } from './connections.ts'
import { dispatch, type Outgoing, type RequestNotes } from './dispatch.ts'
import { ApiError, notFound, toApiError, unknownPath } from './errors.ts'
import { DEFAULT_LIMITS, type ServerLimits } from './limits.ts'
import { OpenStreams } from './live/open-streams.ts'
import { serveLive } from './live/serve.ts'
import type { Metrics } from './metrics.ts'
import { proxiesAmong } from './proxies.ts'
import { answerOn, JSON_TYPE } from './raw-answer.ts'
import type { Route, SessionCookie, SmallCookie } from './route.ts'
import { MAX_PARAM_LENGTH, routerOf, type Found } from './router.ts'
import { countUnderway, type Work } from './underway.ts'

export type HttpOptions = {
  services: Services
  access: Access
  routes: readonly Route[]
  metrics: Metrics
  trusted_proxies: readonly string[]
  /** Set when SITE_URL was given: paging links then use it instead of the request's Host. */
  public_url: string | null
  limits?: Partial<ServerLimits>
}

declare module 'fastify' {
  interface FastifyRequest {
    notes: RequestNotes
    /** Null where nothing is counted. */
    work: Work | null
    /** The path of the API's route as it was declared; null for pages and unknown paths. */
    api_path: string | null
    /** It is answered with a stream. */
    is_live: boolean
  }
}

/** What fastify knows. Methods that nobody offers are one to it. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']
const RARE_METHOD = 'TRACE'
const ANY_PATH = '*'
const BODY_LIMIT = 1024 * 1024
const NO_BODY: RawBody = { bytes: Buffer.alloc(0), is_too_large: false }
const REQUEST_TIMEOUT_MS = 30_000
const TIMEOUT_CHECK_MS = 1_000
const HOST = /^[a-z0-9.\-_]+(:\d+)?$|^\[[0-9a-f:.]+\](:\d+)?$/i
const UNREADABLE: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The headers are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive.',
}

export function buildServer(options: HttpOptions): FastifyInstance {
  const { services, metrics } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const connections = new Connections(limits, proxiesAmong(options.trusted_proxies))
  const app = fastify({
    logger: false,
    trustProxy: options.trusted_proxies.length > 0 ? [...options.trusted_proxies] : false,
    // It is called for each address that `localhost` stands for.
    serverFactory(handler) {
      const server = createServer(
        {
          headersTimeout: limits.header_timeout_ms,
          requestTimeout: REQUEST_TIMEOUT_MS,
          keepAliveTimeout: limits.idle_timeout_ms,
          connectionsCheckingInterval: TIMEOUT_CHECK_MS,
        },
        handler,
      )
      connections.watch(server)
      return server
    },
    exposeHeadRoutes: false,
    genReqId: requestIds(),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH },
    rewriteUrl(request) {
      if (!METHODS.includes(request.method!)) request.method = RARE_METHOD
      return request.url!
    },
    frameworkErrors(_error, request, reply) {
      securityHeaders(request, reply)
      sendError(reply, notFound())
    },
    clientErrorHandler: answerUnreadable,
  })
  app.decorateRequest('notes')
  app.decorateRequest('api_path', null)
  app.decorateRequest('is_live', false)
  // To fastify every method exists and none has a body: `serve` reads it, so that a wrong method is a 405 and a body
  // of the wrong size or type is refused only after 401, 403 and 404.
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  app.addHook('onRequest', (request, reply, done) => {
    request.notes = {}
    securityHeaders(request, reply)
    done()
  })
  countUnderway(app, limits.connections_per_address)
  const streams = new OpenStreams(services.now)
  const openStreams = async () => streams.count()
  metrics.gauge('longshore_open_streams', 'Streams of server-sent events, by route.', openStreams, 'route')
  // Nobody waits for them to end.
  app.addHook('preClose', (done) => {
    streams.close()
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (!request.is_live) observe(options, request, reply)
    done()
  })
  app.setErrorHandler((error, request, reply) => answerError(services, request, reply, error))
  app.setNotFoundHandler((_request, reply) => sendError(reply, unknownPath()))
  const router = routerOf(options.routes)
  app.all(ANY_PATH, (request, reply) => {
    const found = router.find(request.url)
    if (!found) throw unknownPath()
    request.api_path = found.path
    return serve(options, streams, found, request, reply)
  })
  return app
}

/** For the access log and metrics: paths as they were declared are few, those that clients ask for are not. */
function routeName({ api_path, routeOptions }: FastifyRequest): string | null {
  return api_path ?? (routeOptions.url === ANY_PATH ? null : (routeOptions.url ?? null))
}

/** Random once, then counted: drawing each id costs 11 µs, a tenth of all our checks. */
function requestIds(): () => string {
  const process = randomBytes(6).toString('hex')
  let count = 0
  return () => `${process}-${(++count).toString(36)}`
}

/** For the access log and metrics, once for each request. */
function observe({ services, metrics }: HttpOptions, request: FastifyRequest, reply: FastifyReply): void {
  const { id, method, notes } = request
  const status = reply.statusCode
  const route = routeName(request)
  const ms = reply.elapsedTime
  metrics.observeRequest(method, route ?? 'unknown', status, ms / 1000)
  services.log.info({ id, method, route, status, ms: Math.round(ms * 10) / 10, ...notes }, 'request')
}

async function serve(
  options: HttpOptions,
  streams: OpenStreams,
  { methods, params }: Found,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const limit = methods.get(method)?.max_body_bytes ?? BODY_LIMIT
  const raw = hasBody(request) ? await readRawBody(request, limit) : NO_BODY
  const answer = await dispatch(
    options.services,
    options.access,
    methods,
    {
      method,
      params,
      query: request.query as Record<string, unknown>,
      headers: request.headers,
      raw,
      // Most requests never ask: making a URL costs as much as finding the route.
      get url() {
        return absoluteUrl(options, request)
      },
      ip: request.ip,
      id: request.id,
      get signal() {
        return whenGone(reply)
      },
    },
    request.notes,
  )
  if (answer.live) {
    const onEnd = () => observe(options, request, reply)
    return serveLive(options.services, streams, answer.live, request, reply, onEnd)
  }
  return send(reply, answer, request.protocol === 'https')
}

/** Asked for once a request at most, by the few routes whose work is worth stopping. */
function whenGone({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  const leave = () => {
    if (!raw.writableFinished)
      controller.abort(new ApiError('client_gone', 'The connection was closed before the answer.'))
  }
  if (raw.destroyed) leave()
  else raw.once('close', leave)
  return controller.signal
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

function send(reply: FastifyReply, answer: Outgoing, isSecure: boolean): FastifyReply {
  if (answer.session !== undefined) reply.header('set-cookie', sessionCookie(answer.session, isSecure))
  if (answer.cookie !== undefined) reply.header('set-cookie', smallCookie(answer.cookie, isSecure))
  reply.code(answer.status).headers(answer.headers ?? {})
  if (answer.ready) {
    const { content_type, text } = answer.ready
    return reply
      .header('content-type', content_type)
      .send(typeof text === 'string' ? text : Readable.from(text))
  }
  return answer.json === null ? reply.send() : reply.header('content-type', JSON_TYPE).send(answer.json)
}

export function sessionCookie(session: SessionCookie, isSecure: boolean): string {
  const { token: value, max_age_s } = session ?? { token: null, max_age_s: 0 }
  return smallCookie({ name: 'sessionid', value, max_age_s }, isSecure)
}

function smallCookie({ name, value, max_age_s }: SmallCookie, isSecure: boolean): string {
  const attributes = `; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return `${name}=${value ?? ''}; Max-Age=${value === null ? 0 : max_age_s}${attributes}`
}

function answerError(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  const apiError = toApiError(error)
  // One that was thrown as an answer says all there is to say.
  if (apiError.status >= 500 && apiError !== error)
    services.log.error({ err: error, id: request.id, route: routeName(request) }, 'request failed')
  return sendError(reply, apiError)
}

function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  return reply
    .code(error.status)
    .headers(error.headers)
    .header('content-type', JSON_TYPE)
    .send(JSON.stringify(error.body()))
}

/** What Node could not read as HTTP at all still gets an error of our shape. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  // Browsers open connections ahead of time: on one that nobody has used yet, an answer would be taken for that to the next
  // request.
  if (error.code !== 'ECONNRESET' && socket.writable && socket.bytesRead > 0) {
    const detail = UNREADABLE[error.code ?? ''] ?? 'This is not a request in HTTP/1.1.'
    answerOn(socket, new ApiError('parse_error', detail))
  } else socket.destroy()
}

function securityHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
  reply.header('x-content-type-options', 'nosniff')
  reply.header('x-frame-options', 'DENY')
  reply.header('referrer-policy', 'same-origin')
  reply.header('cache-control', 'no-store')
  if (request.protocol === 'https') reply.header('strict-transport-security', 'max-age=31536000')
}

/** Where the client thinks it is: the configured address, or scheme and host of the request. */
function absoluteUrl(options: HttpOptions, request: FastifyRequest): URL {
  const host = request.host ?? ''
  const given = `${request.protocol}://${host}`
  // `1.2.3.4.5` and port 99999 look like hosts but make no address.
  const isUsable = HOST.test(host) && URL.canParse(given)
  const origin = options.public_url ?? (isUsable ? given : options.services.settings.site_url)
  return new URL(request.url.replace(/^\/+/, '/'), origin)
}
