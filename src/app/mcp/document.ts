// /mcp for the OpenAPI document: it is no route of the API, but the way of agents to it.
import { namedExamples } from '../../platform/http/openapi.ts'
import { VERSIONS } from './protocol.ts'

const MESSAGE = {
  type: 'object',
  required: ['jsonrpc', 'method'],
  properties: {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'integer'] },
    method: { type: 'string', examples: ['initialize', 'tools/list', 'tools/call'] },
    params: { type: 'object', additionalProperties: true },
  },
}

const EXAMPLES = {
  'List the tools': { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  'Call a tool': {
    jsonrpc: '2.0',
    id: 2,
    method: 'tools/call',
    params: { name: 'query', arguments: { query: 'select event, count() from events group by event' } },
  },
}

const error = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

export const mcpDocument = {
  '/mcp': {
    post: {
      operationId: 'post_mcp',
      tags: ['Agents'],
      summary: 'Talk to the server as an agent',
      description: `Model Context Protocol, versions ${VERSIONS.join(', ')}. The key's scopes decide which tools there are.`,
      security: [{ key: [] }],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: MESSAGE, examples: namedExamples(EXAMPLES) } },
      },
      responses: {
        200: {
          description: 'The answer to a request.',
          content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
        },
        202: { description: 'A notification was taken.' },
        400: {
          description: 'No message of the protocol.',
          content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
        },
        401: error('No key, or a wrong one.'),
        403: error('A web page of another site.'),
        429: error('Too many calls: try again after `Retry-After`.'),
      },
    },
  },
}
