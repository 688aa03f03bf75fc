// The console: one page for all of its addresses, and the files it loads. Everything else it does, it does through the
// API like any other client.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { randomBytes } from 'node:crypto'
import { extname } from 'node:path'
import { notFound } from '../../platform/http/errors.ts'
import { sendPackedFile } from '../../platform/http/packed-file.ts'
import { linksAhead } from './ahead.ts'
import { openConsoleFiles } from './files.ts'

// Where the console answers. Mailed links and bookmarks point here; web/src/routes.tsx says what each shows.
const ADDRESSES_OF_ANYBODY = [
  '/login',
  '/login/token',
  '/login/recovery/:user_uuid/:token',
  '/signup',
  '/signup/:invite_id',
  '/reset',
  '/reset/:user_uuid/:token',
  '/verify_email/:uuid',
  '/verify_email/:uuid/:token',
  '/undo_email_change/:uuid/:token',
]
const ADDRESSES_WITHIN = [
  '/',
  '/project/*',
  '/organization',
  '/organization/*',
  '/account',
  '/account/*',
  '/server',
]
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const FOR_EVER = 'public, max-age=31536000, immutable'
const NONCE = '%NONCE%'
const SESSION = '%SESSION%'

export function addConsole(app: FastifyInstance): void {
  const files = openConsoleFiles()
  const { page, assets } = files

  const send = (request: FastifyRequest, reply: FastifyReply) => {
    const nonce = randomBytes(16).toString('base64')
    return reply
      .header('content-security-policy', policy(nonce))
      .type('text/html; charset=utf-8')
      .send(page.replace(NONCE, nonce).replace(SESSION, hasSession(request) ? 'perhaps' : 'none'))
  }
  for (const address of ADDRESSES_OF_ANYBODY) app.get(address, async (request, reply) => send(request, reply))
  for (const address of ADDRESSES_WITHIN)
    app.get(address, async (request, reply) => {
      if (hasSession(request)) reply.header('link', linksAhead(request.url, files))
      return send(request, reply)
    })

  app.get('/assets/:name', async (request, reply) => {
    const { name } = request.params as { name: string }
    const file = assets.get(name)
    if (!file) throw notFound()
    reply.header('cache-control', FOR_EVER).type(TYPES[extname(name)]!)
    return sendPackedFile(file, request, reply)
  })
}

/** Without a cookie the page need not ask the API, and shows the way in at once. */
function hasSession({ headers }: FastifyRequest): boolean {
  return /(^|;\s*)sessionid=./.test(headers.cookie ?? '')
}

/**
 * Scripts from here alone, styles from here or by the page's own code, requests to nobody else. Whatever would turn text
 * into markup has to pass the one policy of web/src/trusted-types.ts.
 */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ')
}
