// `/docs`: the OpenAPI document as a page to read and to try calls on. Swagger UI's files lie beside the bundle.
import type { FastifyInstance } from 'fastify'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { VERSION } from './version.ts'

// In a checkout that runs from its sources (tests) the files are where npm put them.
const FOLDERS = [
  join(import.meta.dirname, 'docs-page'),
  join(import.meta.dirname, '../../node_modules/@fastify/swagger-ui/static'),
]
const FILES = [
  'swagger-ui.css',
  'index.css',
  'favicon-32x32.png',
  'favicon-16x16.png',
  'swagger-ui-bundle.js',
] as const
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
}
// The page reads this server and nobody else.
const POLICY =
  "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
// Addresses carry the version, so that an upgrade is seen at once.
const CACHE = 'public, max-age=86400'

/** BaseLayout leaves out the bar with another product's logo. */
const INITIALIZER = `window.onload = function () {
  SwaggerUIBundle({
    dom_id: '#swagger-ui',
    url: '/api/schema/',
    layout: 'BaseLayout',
    docExpansion: 'none',
    deepLinking: true,
    tryItOutEnabled: true,
    validatorUrl: null,
  })
}
`

const PAGE = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Longshore API</title>
<link rel="stylesheet" href="${address('swagger-ui.css')}">
<link rel="stylesheet" href="${address('index.css')}">
<link rel="icon" type="image/png" sizes="32x32" href="${address('favicon-32x32.png')}">
<link rel="icon" type="image/png" sizes="16x16" href="${address('favicon-16x16.png')}">
</head>
<body>
<div id="swagger-ui"></div>
<script src="${address('swagger-ui-bundle.js')}"></script>
<script src="${address('swagger-initializer.js')}"></script>
</body>
</html>
`

export function addDocsPage(app: FastifyInstance): void {
  app.get('/docs', async (_request, reply) =>
    reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(PAGE),
  )
  for (const name of FILES) {
    // Read when somebody looks at the page, and kept: most servers never show it.
    let content: Promise<Buffer> | undefined
    app.get(`/docs/static/${name}`, async (_request, reply) => {
      content ??= readFile(join(folder(), name))
      return reply
        .headers({ 'cache-control': CACHE })
        .type(TYPES[extname(name)]!)
        .send(await content)
    })
  }
  app.get('/docs/static/swagger-initializer.js', async (_request, reply) =>
    reply.headers({ 'cache-control': CACHE }).type(TYPES['.js']!).send(INITIALIZER),
  )
}

function address(name: string): string {
  return `/docs/static/${name}?v=${VERSION}`
}

function folder(): string {
  return FOLDERS.find((candidate) => existsSync(candidate)) ?? FOLDERS[0]!
}
