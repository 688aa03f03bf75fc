// One call of a tool: its arguments become a request of the API, which is dispatched in process with the caller's key.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Caller } from '../../platform/http/caller.ts'
import { dispatch, type Incoming, type Outgoing } from '../../platform/http/dispatch.ts'
import { toApiError, type ApiError } from '../../platform/http/errors.ts'
import { assertScope } from '../../platform/http/reach.ts'
import { validate } from '../../platform/http/validate.ts'
import type { Services } from '../../platform/services.ts'
import { access } from '../http.ts'
import type { Tool } from './tool.ts'

/** Longer answers help no agent. */
const MAX_ANSWER_CHARACTERS = 500_000

export type ToolResult = { content: { type: 'text'; text: string }[]; isError?: true }

/** What the API refuses is a result too: the agent reads why, and may try again. */
export async function callTool(
  services: Services,
  request: FastifyRequest,
  caller: Caller,
  tool: Tool,
  given: unknown,
): Promise<ToolResult> {
  try {
    // Before what is wrong with the arguments: the key may not even see this tool.
    assertScope(tool.route, caller)
    const fields = validate(tool.input, given ?? {})
    return await resultOf(
      await dispatch(
        services,
        access,
        new Map([[tool.route.method, tool.route]]),
        incomingOf(services, request, tool, fields),
        request.notes,
      ),
    )
  } catch (error) {
    const refused = toApiError(error)
    if (refused.status >= 500 && refused !== error)
      services.log.error({ err: error, id: request.id, tool: tool.name }, 'tool failed')
    return failed(refused)
  }
}

function incomingOf(
  { settings }: Services,
  { headers, ip, id }: FastifyRequest,
  tool: Tool,
  fields: Record<string, unknown>,
): Incoming {
  const { route } = tool
  const { params, query, body } = tool.requestOf(fields)
  const path = route.path.replace(/:([a-z_]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body))
  return {
    method: route.method,
    params,
    query,
    // Nothing else of the request: neither its cookies nor headers that mean something to the API.
    headers: { authorization: headers.authorization, 'content-type': 'application/json' },
    raw: { bytes, is_too_large: false },
    url: new URL(`${path}?${new URLSearchParams(query).toString()}`, settings.site_url || 'http://localhost'),
    ip,
    id,
  }
}

async function resultOf({ json, ready }: Outgoing): Promise<ToolResult> {
  let text = json ?? ''
  for await (const piece of typeof ready?.text === 'string' ? [ready.text] : (ready?.text ?? [])) {
    text += piece
    if (text.length > MAX_ANSWER_CHARACTERS) break
  }
  if (text.length <= MAX_ANSWER_CHARACTERS) return { content: [{ type: 'text', text: text || 'Done.' }] }
  const reason = `The answer has more than ${MAX_ANSWER_CHARACTERS} characters: ask for less, with LIMIT, fewer columns or a smaller page.`
  return { content: [{ type: 'text', text: reason }], isError: true }
}

function failed(error: ApiError): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(error.body()) }], isError: true }
}

/** As tools/list gives it. */
export function describeTool({ name, title, description, input }: Tool, isReading: boolean) {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })
  const annotations = { title, readOnlyHint: isReading, destructiveHint: false, openWorldHint: false }
  return { name, title, description, inputSchema, annotations }
}
