// What the open paths have in common: how they read a request and find the project it is for.
import type { FastifyRequest } from 'fastify'
import type { Database } from '../../../platform/db/database.ts'
import { readRawBody } from '../../../platform/http/body.ts'
import { findProjectByToken } from '../../projects/by-token.ts'
import type { ProjectRow } from '../../projects/schema.ts'
import { assertToken, invalidToken } from './envelope.ts'
import { invalidPayload, tooLarge } from './refusal.ts'
import type { Packed } from './unpack.ts'

const MB = 1024 * 1024
export const MAX_BODY = 2 * MB
const FORM = 'application/x-www-form-urlencoded'

/** With GET everything stands in the query, which then is a form like any other. */
export async function readPacked(request: FastifyRequest, limit: number): Promise<Packed> {
  if (request.method === 'GET') {
    const [, query = ''] = request.url.split(/\?(.*)/s)
    if (parameter(request, 'data') === undefined)
      throw invalidPayload('Send the events as `data`, or with POST.')
    return {
      bytes: Buffer.from(query),
      content_type: FORM,
      content_encoding: undefined,
      compression: undefined,
    }
  }
  const { bytes, is_too_large } = await readRawBody(request, limit)
  if (is_too_large) throw tooLarge(`The body is over ${limit / MB} MB.`)
  if (bytes.length === 0) throw invalidPayload('The body is empty.')
  const { 'content-type': content_type, 'content-encoding': content_encoding } = request.headers
  return { bytes, content_type, content_encoding, compression: parameter(request, 'compression') }
}

export function parameter(request: FastifyRequest, name: string): string | undefined {
  const value = (request.query as Record<string, unknown>)[name]
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : undefined
}

/**
 * `given` is the token that a request carries beside its body, if any. It is looked up before the body is read: who has
 * none to show costs us nothing else.
 */
export async function assertOuterToken(db: Database, given: string | undefined): Promise<string | undefined> {
  if (given === undefined) return undefined
  const token = assertToken(given)
  await getProject(db, token)
  return token
}

/** Undefined when there is none, or an empty one. */
export function outerToken(request: FastifyRequest): string | undefined {
  const header = request.headers['x-posthog-token']
  const places = [parameter(request, 'token'), parameter(request, 'api_key'), [header].flat()[0]]
  return places.find((token) => token !== undefined && token.trim() !== '')
}

export async function getProject(db: Database, token: string): Promise<ProjectRow> {
  const project = await findProjectByToken(db, token)
  if (!project) throw invalidToken('No project has this token.')
  return project
}
