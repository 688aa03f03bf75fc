// `/api/schema/`: docs/openapi.json, as the build put it beside the program (scripts/api-document.js). Anybody may ask for it, and as
// often as they like: an answer costs no more than handing out bytes.
import type { FastifyInstance } from 'fastify'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readPackedFile, sendPackedFile, type PackedFile } from '../platform/http/packed-file.ts'

// Beside the bundle; in a checkout that runs from its sources (tests), where test/harness/global-setup.ts puts it.
const PATHS = [
  join(import.meta.dirname, 'openapi.json'),
  join(import.meta.dirname, '../../node_modules/.longshore-document/openapi.json'),
]

let opened: PackedFile | undefined

export function addApiSchema(app: FastifyInstance): void {
  opened ??= readDocument()
  const file = opened
  app.get('/api/schema/', async (request, reply) =>
    sendPackedFile(file, request, reply.type('application/json; charset=utf-8')),
  )
}

/** At the start: a build made while the server runs must not mix its files with ours. */
function readDocument(): PackedFile {
  const path = PATHS.find((candidate) => existsSync(candidate))
  if (path === undefined) throw new Error('the OpenAPI document was not built: run `npm run build`')
  return readPackedFile(path)
}
