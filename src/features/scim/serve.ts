// The paths of SCIM: no routes of the API, for they have a token, media type and errors of their own. They answer with and without
// a slash at the end.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { passedBound } from '../../lib/json-bounds.ts'
import type { JsonObject } from '../../lib/json-object.ts'
import { isUuid } from '../../lib/uuid.ts'
import { assertHarmless, isStorableText, readRawBody, type RawBody } from '../../platform/http/body.ts'
import { one } from '../../platform/http/identify.ts'
import type { Services } from '../../platform/services.ts'
import { findDomainByScimToken, noteScimRefused } from '../domains/queries.ts'
import type { DomainRow } from '../domains/schema.ts'
import { hashScimToken, scimBaseUrl } from '../domains/scim-token.ts'
import { answerBulk } from './bulk.ts'
import { takeFromRate, type Directory } from './directory.ts'
import { answer, type Answer, type Asked } from './endpoints.ts'
import { MAX_BODY } from './protocol/documents.ts'
import { refused, ScimError, toScimError } from './protocol/scim-error.ts'
import { loggedPath, logRequest } from './request-log.ts'

const MEDIA_TYPE = 'application/scim+json; charset=utf-8'
// A group of 20,000 people, each with a name and an address, has as many values.
const BOUNDS = { depth: 20, values: 120_000 }

export function addScim(app: FastifyInstance, services: Services): void {
  const serve = (request: FastifyRequest, reply: FastifyReply) => handle(services, request, reply)
  app.all('/scim/v2/:domain_id', serve)
  app.all('/scim/v2/:domain_id/*', serve)
}

async function handle(services: Services, request: FastifyRequest, reply: FastifyReply) {
  const onFault = (error: unknown) =>
    services.log.error({ err: error, id: request.id, route: '/scim/v2' }, 'request failed')
  try {
    const raw = await readRawBody(request, MAX_BODY)
    const directory = await identify(services, request)
    takeFromRate(directory, 1)
    return send(reply, await carryOut(directory, request, raw, onFault))
  } catch (error) {
    return send(reply, refusal(error, onFault))
  }
}

/** Carried out and written down, whatever came of it. */
async function carryOut(
  directory: Directory,
  request: FastifyRequest,
  raw: RawBody,
  onFault: (error: unknown) => void,
): Promise<Answer> {
  const { services, domain, now } = directory
  const path = pathOf(request)
  const query = request.query as JsonObject
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const { if_match, if_none_match } = conditionsOf(request)
  let body: unknown
  let answered: Answer
  try {
    assertStorable(query)
    body = readBody(raw, request)
    const asked: Asked = { method, path, query, body, if_match, if_none_match }
    const isBulk = path.length === 1 && path[0] === 'Bulk'
    answered = await (isBulk ? answerBulk(directory, asked, onFault) : answer(directory, asked))
  } catch (error) {
    answered = refusal(error, onFault)
  }
  await logRequest(services.db, domain.id, {
    created_at: now,
    method: request.method,
    path: storable(loggedPath(path, query)),
    status: answered.status,
    duration_ms: Math.max(0, services.now().getTime() - now.getTime()),
    request: body,
    response: answered.body,
    // It is done, whether it can be written down or not.
  }).catch(onFault)
  return answered
}

/** 401 for whatever is wrong: nobody learns which domains there are. */
async function identify(services: Services, request: FastifyRequest): Promise<Directory> {
  const now = services.now()
  const { domain_id = '' } = request.params as { domain_id?: string }
  const token = /^\s*bearer\s+(\S+)\s*$/i.exec(one(request.headers.authorization) ?? '')?.[1]
  if (token === undefined) throw unknown()
  const domain = isUuid(domain_id)
    ? await findDomainByScimToken(services.db, domain_id, hashScimToken(token))
    : undefined
  if (!domain) {
    await services.guesses.take({ kind: 'key', ip: request.ip, now })
    if (isUuid(domain_id)) await noteScimRefused(services.db, domain_id, now)
    throw unknown()
  }
  request.notes.caller = `directory:${domain.id}`
  request.notes.organization_id = domain.organization_id
  return {
    services,
    domain,
    actor: actorOf(domain, request.ip, now),
    now,
    base: scimBaseUrl(services, domain),
  }
}

function actorOf({ domain }: DomainRow, ip: string, now: Date): Directory['actor'] {
  return { caller: null, directory: domain, request: { ip }, now }
}

function unknown(): ScimError {
  return new ScimError(401, null, 'The bearer token is missing or wrong, or SCIM is off for this domain.', {
    'www-authenticate': 'Bearer',
  })
}

function pathOf(request: FastifyRequest): string[] {
  const rest = (request.params as { '*'?: string })['*'] ?? ''
  const path = rest.split('/')
  if (path.at(-1) === '') path.pop()
  return path
}

function conditionsOf({ headers }: FastifyRequest): Pick<Asked, 'if_match' | 'if_none_match'> {
  return { if_match: one(headers['if-match']), if_none_match: one(headers['if-none-match']) }
}

/** Directories say `application/scim+json`, `application/json` or nothing; it is JSON all the same. */
function readBody(raw: RawBody, { headers }: FastifyRequest): unknown {
  if (raw.is_too_large) throw new ScimError(413, null, `The body is larger than ${MAX_BODY} bytes.`)
  if (raw.bytes.length === 0) return undefined
  const encoding = one(headers['content-encoding'])
  if (encoding !== undefined && encoding !== 'identity')
    throw new ScimError(415, null, 'Compressed bodies are not accepted.')
  const value = parse(raw.bytes)
  assertHarmless(value, [])
  return value
}

function parse(bytes: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const passed = passedBound(text, BOUNDS)
    if (passed === 'values')
      throw new ScimError(413, null, `The body holds more than ${BOUNDS.values} values.`)
    if (passed === 'depth') throw refused('invalidSyntax', 'The body is nested too deeply.')
    return JSON.parse(text)
  } catch (error) {
    throw error instanceof ScimError ? error : refused('invalidSyntax', 'The body is not JSON in UTF-8.')
  }
}

/** PostgreSQL takes neither NUL nor broken characters, and parameters are compared with what it stores. */
function assertStorable(query: JsonObject): void {
  for (const value of Object.values(query).flat())
    if (typeof value === 'string' && !isStorableText(value))
      throw refused('invalidValue', 'A parameter holds characters that cannot be stored.')
}

function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}

function refusal(error: unknown, onFault: (error: unknown) => void): Answer {
  const scimError = toScimError(error)
  if (scimError.status >= 500 && scimError !== error) onFault(error)
  return { status: scimError.status, body: scimError.body(), headers: scimError.headers }
}

function send(reply: FastifyReply, { status, body, headers = {} }: Answer): FastifyReply {
  reply.code(status).headers(headers)
  return body === null ? reply.send() : reply.header('content-type', MEDIA_TYPE).send(JSON.stringify(body))
}
