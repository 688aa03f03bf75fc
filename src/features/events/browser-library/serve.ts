// The paths that web pages load the browser library and its parts from, as PostHog's snippet and the library itself ask
// for them. There is one version; pages that bring another of the same major get their parts from it, as they do from
// PostHog's own `/static/<part>.js`.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../../platform/http/errors.ts'
import { addOpenPath } from '../../../platform/http/open-path.ts'
import { sendPackedFile } from '../../../platform/http/packed-file.ts'
import type { Services } from '../../../platform/services.ts'
import { addCapturePath } from '../capture/capture-path.ts'
import { assertToken } from '../capture/envelope.ts'
import { getProject, parameter } from '../capture/request.ts'
import { openLibrary, type Library } from './library.ts'

const JAVASCRIPT = 'application/javascript; charset=utf-8'
const FOR_EVER = 'public, max-age=31536000, immutable'
const FOR_AN_HOUR = 'public, max-age=3600'

/**
 * Parts of features that are not here: scripts that do nothing, so that a page left over from PostHog logs no error. Old
 * libraries call what the toolbar would define.
 */
const NO_TOOLBAR = 'window.ph_load_toolbar = window.ph_load_editor = function () {};\n'
const ABSENT = new Map([
  ['toolbar.js', NO_TOOLBAR],
  ['editor.js', NO_TOOLBAR],
  ...['recorder', 'recorder-v2', 'lazy-recorder', 'posthog-recorder', 'conversations', 'product-tours'].map(
    (part) => [`${part}.js`, '\n'] as const,
  ),
])

export function addBrowserLibrary(app: FastifyInstance, services: Services): void {
  const library = openLibrary()

  addOpenPath(app, '/static/:file', ['GET', 'HEAD'], async (request, reply) => {
    const { file } = request.params as { file: string }
    return sendFile(library, file, parameter(request, 'v') === library.version, request, reply)
  })

  addOpenPath(app, '/static/:version/:file', ['GET', 'HEAD'], async (request, reply) => {
    const { version, file } = request.params as { version: string; file: string }
    if (!isSameMajor(version, library.version)) throw notFound()
    return sendFile(library, file, version === library.version, request, reply)
  })

  // The library without the project's settings: it asks for them itself.
  addCapturePath(app, '/array/:token/array.js', async (request, reply) => {
    const { token } = request.params as { token: string }
    request.notes.project_id = (await getProject(services.db, assertToken(token))).id
    return sendFile(library, 'array.js', false, request, reply)
  })
}

/** `1`, `1.434` or `1.434.18`. */
function isSameMajor(asked: string, ours: string): boolean {
  return /^\d+(\.\d+){0,2}$/.test(asked) && asked.split('.')[0] === ours.split('.')[0]
}

function sendFile(
  library: Library,
  name: string,
  isExact: boolean,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const absent = ABSENT.get(name)
  if (absent !== undefined) return allowAll(reply, FOR_AN_HOUR).send(absent)
  const file = library.files.get(name)
  if (!file) throw notFound()
  return sendPackedFile(file, request, allowAll(reply, isExact ? FOR_EVER : FOR_AN_HOUR))
}

/** The same answer for every page, so that caches between us keep one copy. */
function allowAll(reply: FastifyReply, cacheControl: string): FastifyReply {
  reply.removeHeader('access-control-allow-credentials')
  return reply
    .type(JAVASCRIPT)
    .header('access-control-allow-origin', '*')
    .header('vary', 'Accept-Encoding')
    .header('cache-control', cacheControl)
}
