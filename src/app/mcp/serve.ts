// /mcp: agents talk to the server by the Model Context Protocol (streamable HTTP), with an API key as bearer.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseBody, readRawBody } from '../../platform/http/body.ts'
import { callerId, type Caller } from '../../platform/http/caller.ts'
import { takeFromKey } from '../../platform/http/admit.ts'
import { ApiError, denied, unauthenticated } from '../../platform/http/errors.ts'
import { identify } from '../../platform/http/identify.ts'
import { JSON_TYPE } from '../../platform/http/raw-answer.ts'
import type { Services } from '../../platform/services.ts'
import { access } from '../http.ts'
import { VERSION } from '../version.ts'
import { callTool, describeTool } from './call-tool.ts'
import {
  agreeOnVersion,
  failure,
  MAX_BATCH,
  readMessage,
  result,
  VERSION_WITH_BATCHES,
  VERSIONS,
  type Message,
  type Reply,
} from './protocol.ts'
import { isOffered, isReading } from './tool.ts'
import { TOOLS } from './tools.ts'

const BODY_LIMIT = 1024 * 1024
const INSTRUCTIONS =
  'Longshore stores events of a product and exports them. Look up names with list_event_definitions and list_property_definitions before you use query.'

type Asked = { services: Services; request: FastifyRequest; caller: Caller; now: Date }

export function addMcp(app: FastifyInstance, services: Services): void {
  app.all('/mcp', async (request, reply) => {
    assertOwnOrigin(services, request)
    if (request.method !== 'POST')
      throw new ApiError(
        'method_not_allowed',
        'Messages are sent by POST; there is no stream to listen to.',
        null,
        {
          allow: 'POST',
        },
      )
    const now = services.now()
    const caller = await identifyKey(services, request, now)
    request.notes.caller = callerId(caller)
    return answer(reply, await handleBody({ services, request, caller, now }))
  })
}

/**
 * Programs send no Origin; browsers do, and a name that leads to this machine (DNS rebinding) makes Host and Origin agree.
 * So only the server's own address counts.
 */
function assertOwnOrigin({ settings }: Services, { headers }: FastifyRequest): void {
  if (headers.origin !== undefined && headers.origin !== settings.site_url)
    throw denied('Web pages of other sites may not call this.')
}

/** By the header alone: neither a cookie nor a key in the address opens this door. */
async function identifyKey(services: Services, request: FastifyRequest, now: Date): Promise<Caller> {
  const caller = await identify(
    services,
    access,
    {
      authorization: request.headers.authorization,
      bodyKey: async () => undefined,
      queryKey: undefined,
      cookie: undefined,
      ip: request.ip,
      onWrongKey: () => services.guesses.take({ kind: 'key', ip: request.ip, now }),
    },
    now,
  )
  if (!caller) throw unauthenticated('not_authenticated')
  return caller
}

type Answer = { status: 200 | 202 | 400; body: Reply | Reply[] | null }

async function handleBody(asked: Asked): Promise<Answer> {
  const version = String(asked.request.headers['mcp-protocol-version'] ?? VERSION_WITH_BATCHES)
  if (!VERSIONS.some((known) => known === version))
    return refused(`This protocol version is not spoken here; there are ${VERSIONS.join(', ')}.`)
  const body = await readBody(asked.request)
  if (!Array.isArray(body)) {
    const message = readMessage(body)
    if (!message) return refused('This is not a message in JSON-RPC 2.0.')
    const reply = await handle(asked, message)
    return reply ? { status: 200, body: reply } : { status: 202, body: null }
  }
  if (version !== VERSION_WITH_BATCHES) return refused('This protocol version knows no batches.')
  if (body.length === 0 || body.length > MAX_BATCH) return refused(`A batch has 1 to ${MAX_BATCH} messages.`)
  const replies: Reply[] = []
  for (const each of body) {
    const message = readMessage(each)
    const reply = message
      ? await handle(asked, message)
      : failure(null, 'invalid_request', 'This is not a message in JSON-RPC 2.0.')
    if (reply) replies.push(reply)
  }
  return replies.length > 0 ? { status: 200, body: replies } : { status: 202, body: null }
}

async function readBody(request: FastifyRequest): Promise<unknown> {
  const { headers } = request
  return parseBody(
    await readRawBody(request, BODY_LIMIT),
    headers['content-type'],
    headers['content-encoding'],
  )
}

function refused(message: string): Answer {
  return { status: 400, body: failure(null, 'invalid_request', message) }
}

/** Null where no answer is wanted. */
async function handle(asked: Asked, message: Message): Promise<Reply | null> {
  const { services, request, caller, now } = asked
  if (message.kind === 'notice') return null
  const { id, method, params } = message
  // Calls are counted by the API itself.
  if (method !== 'tools/call' && caller.kind !== 'session') takeFromKey(services, caller.key.id, now)
  switch (method) {
    case 'initialize':
      return result(id, {
        protocolVersion: agreeOnVersion(params.protocolVersion),
        capabilities: { tools: {} },
        serverInfo: { name: 'longshore', title: 'Longshore', version: VERSION },
        instructions: INSTRUCTIONS,
      })
    case 'ping':
      return result(id, {})
    case 'tools/list': {
      const offered = [...TOOLS.values()].filter((tool) => isOffered(tool, caller))
      return result(id, { tools: offered.map((tool) => describeTool(tool, isReading(tool))) })
    }
    case 'tools/call': {
      const tool = typeof params.name === 'string' ? TOOLS.get(params.name) : undefined
      if (!tool) return failure(id, 'invalid_params', 'There is no such tool.')
      request.notes.tool = tool.name
      return result(id, await callTool(services, request, caller, tool, params.arguments))
    }
    default:
      return failure(id, 'method_not_found', 'This method is not offered.')
  }
}

function answer(reply: FastifyReply, { status, body }: Answer): FastifyReply {
  reply.code(status)
  return body === null ? reply.send() : reply.header('content-type', JSON_TYPE).send(JSON.stringify(body))
}
