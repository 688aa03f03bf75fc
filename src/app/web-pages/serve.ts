// Serves the pages: reads the visit, calls the API within the process, writes HTML or a redirect.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { access, routes } from '../http.ts'
import { parseUrlEncoded, readRawBody } from '../../platform/http/body.ts'
import { dispatch, type Outgoing } from '../../platform/http/dispatch.ts'
import { ApiError, toApiError } from '../../platform/http/errors.ts'
import { assertSameOrigin } from '../../platform/http/identify.ts'
import { routerOf } from '../../platform/http/router.ts'
import { sessionCookie } from '../../platform/http/server.ts'
import type { Services } from '../../platform/services.ts'
import { PAGE_POLICY, renderPage } from './html.ts'
import { webPages, type Outcome, type Shown, type Visit } from './pages.ts'

const FORM_LIMIT = 64 * 1024
const api = routerOf(routes)

export function addWebPages(app: FastifyInstance, services: Services): void {
  for (const { path, show, submit } of webPages) {
    app.get(path, async (request, reply) => write(reply, await show(visitOf(services, request, reply, {}))))
    if (!submit) continue
    app.post(path, async (request, reply) => {
      assertSameOrigin({
        ...originFacts(request),
        own_origins: [ownOrigin(request), services.settings.site_url],
      })
      const form = await readForm(request)
      return write(reply, await submit(visitOf(services, request, reply, form)))
    })
  }
}

function visitOf(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  form: Record<string, string>,
): Visit {
  return {
    params: request.params as Record<string, string>,
    query: textsOf(request.query as Record<string, unknown>),
    form,
    async call(method, path, params, body, query = {}) {
      const incoming = {
        method,
        params,
        query,
        headers: {
          cookie: request.headers.cookie,
          origin: request.headers.origin,
          'sec-fetch-site': request.headers['sec-fetch-site'],
          'content-type': 'application/json',
        },
        raw: { bytes: Buffer.from(JSON.stringify(body ?? {})), is_too_large: false },
        url: new URL(ownOrigin(request)),
        ip: request.ip,
        id: request.id,
      }
      try {
        const answer = await dispatch(services, access, api.methodsOf(path)!, incoming, request.notes)
        if (answer.session !== undefined)
          reply.header('set-cookie', sessionCookie(answer.session, request.protocol === 'https'))
        return outcomeOf(answer)
      } catch (error) {
        const apiError = toApiError(error)
        if (apiError.status >= 500) throw error
        return {
          status: apiError.status,
          code: apiError.code,
          detail: apiError.detail,
          body: null,
          headers: {},
        }
      }
    },
  }
}

function outcomeOf({ status, json, headers = {} }: Outgoing): Outcome {
  const body = json === null ? null : (JSON.parse(json) as Record<string, unknown>)
  return {
    status,
    code: status < 400 ? null : String(body?.code),
    detail: typeof body?.detail === 'string' ? body.detail : '',
    body,
    headers,
  }
}

function write(reply: FastifyReply, shown: Shown): FastifyReply {
  if ('redirect' in shown) return reply.redirect(shown.redirect, 303)
  return reply
    .header('content-security-policy', PAGE_POLICY)
    .type('text/html; charset=utf-8')
    .send(renderPage(shown.page))
}

function originFacts(request: FastifyRequest): {
  origin: string | undefined
  fetch_site: string | undefined
} {
  const site = request.headers['sec-fetch-site']
  return { origin: request.headers.origin, fetch_site: typeof site === 'string' ? site : undefined }
}

/** A Host header that is no host belongs to nobody: no origin equals it. */
function ownOrigin(request: FastifyRequest): string {
  const origin = `${request.protocol}://${request.host}`
  return URL.canParse(origin) ? origin : 'http://unknown.invalid'
}

async function readForm(request: FastifyRequest): Promise<Record<string, string>> {
  const { bytes, is_too_large } = await readRawBody(request, FORM_LIMIT)
  if (is_too_large) throw new ApiError('request_too_large', 'The form is larger than this page takes.')
  return parseUrlEncoded(bytes)
}

function textsOf(query: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  )
}
