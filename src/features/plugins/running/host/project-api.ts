// posthog.api: an app calls the API of this server for its own project. Each call goes the way of every request, with the
// rights of a key that exists for that one call, reads and writes annotations, and reaches nothing but the project.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Access } from '../../../../platform/http/access.ts'
import { LEVELS, type Caller } from '../../../../platform/http/caller.ts'
import type { ApiRequest, FetchAnswer } from '../../../../platform/sandbox/sandbox.ts'
import { randomBase62 } from '../../../../lib/base62.ts'
import type { RunningApp } from '../running-app.ts'
import { HostError } from './host-error.ts'

const SCOPES = ['query:read', 'person:read', 'event_definition:read', 'annotation:read', 'annotation:write']
const KEY_BYTES = 32
const BEARER = 'Bearer '
const MAX_ANSWER = 5 * 1024 * 1024
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
/** What this server does not have: apps that ask find none. */
const ABSENT = /^(?:feature_flags|cohorts|experiments|surveys)\/?$/
const RELATED_GROUPS = /^groups\/related\/?$/

type Asking = Pick<RunningApp, 'config_id' | 'project_id' | 'organization_id' | 'plugin_name'>

export class ProjectApi {
  #server: Pick<FastifyInstance, 'inject'> | null = null
  readonly #callers = new Map<string, Caller>()

  /** Once there is one. */
  serveBy(server: Pick<FastifyInstance, 'inject'>): void {
    this.#server = server
  }

  /** Knows the keys of calls under way, besides all others. */
  extend(access: Access): Access {
    return {
      ...access,
      findCallerByKey: async (db, key, now) => this.#callers.get(key) ?? access.findCallerByKey(db, key, now),
    }
  }

  /** Whether it is a call of an app that is under way. */
  isCalling({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
    return this.#callers.has(headers.authorization?.slice(BEARER.length) ?? '')
  }

  async call(app: Asking, { method, path, body }: ApiRequest): Promise<FetchAnswer> {
    const verb = METHODS.find((known) => known === method)
    if (!verb) throw new HostError('This HTTP method is not known.')
    const { rest, query } = readPath(path, app.project_id)
    if (verb === 'GET' && ABSENT.test(rest)) return answer(200, NONE)
    if (verb === 'GET' && RELATED_GROUPS.test(rest)) return answer(200, '[]')
    if (!this.#server) throw new HostError('The server is not ready yet.')
    // Routes end in a slash; apps often leave it out.
    const url = `/api/projects/${app.project_id}/${rest.replace(/\/?$/, '/')}${query}`
    const key = randomBase62(KEY_BYTES)
    this.#callers.set(key, callerOf(app))
    try {
      const reply = await this.#server.inject({
        method: verb,
        url,
        headers: {
          authorization: BEARER + key,
          ...(body === null ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === null ? {} : { payload: body }),
      })
      if (reply.rawPayload.length > MAX_ANSWER) throw new HostError('An answer may have 5 MB at most.')
      return answer(reply.statusCode, reply.payload)
    } finally {
      this.#callers.delete(key)
    }
  }
}

const NONE = JSON.stringify({ count: 0, next: null, previous: null, results: [] })

function answer(status: number, text: string): FetchAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(text).toString('base64'),
  }
}

function callerOf({ config_id, project_id, organization_id, plugin_name }: Asking): Caller {
  return {
    kind: 'service_key',
    user: null,
    key: {
      id: `app:${config_id}`,
      label: plugin_name,
      scopes: SCOPES,
      scoped_organizations: [],
      scoped_teams: [project_id],
    },
    organization_id,
    level: LEVELS.member,
  }
}

/** `@current` and the number of the app's own project mean the same; nothing else is within reach. */
function readPath(path: string, project_id: number): { rest: string; query: string } {
  const url = URL.canParse(path, 'http://app') ? new URL(path, 'http://app') : null
  const [, named, rest] = /^\/api\/(?:projects|environments)\/([^/]+)\/(.+)$/.exec(url?.pathname ?? '') ?? []
  if (url?.host !== 'app' || rest === undefined || !['@current', String(project_id)].includes(named!))
    throw new HostError('posthog.api reaches /api/projects/@current/… only.')
  return { rest, query: url.search }
}
