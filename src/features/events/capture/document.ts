// The paths of capture for the OpenAPI document. They are no routes of the API: no key, no session, bodies of many kinds.
import { namedExamples } from '../../../platform/http/openapi.ts'

/** What each path answers; the newest has a result for each event, by its `uuid`. */
const STORED = { type: 'object', properties: { status: { type: 'integer' } } }
const RESULTS = {
  type: 'object',
  properties: {
    results: {
      type: 'object',
      additionalProperties: { type: 'object', properties: { result: { type: 'string' } } },
    },
  },
}

const EVENT = {
  type: 'object',
  required: ['event', 'distinct_id'],
  properties: {
    event: { type: 'string', description: 'Its name; 200 characters are kept.' },
    distinct_id: { type: 'string' },
    properties: { type: 'object', additionalProperties: true },
    timestamp: {
      oneOf: [{ type: 'string', format: 'date-time' }, { type: 'number' }],
      description:
        'ISO 8601 text, or a number of milliseconds since 1970. The time of arrival stands in for a time that is missing, cannot be ' +
        'read (`14.11.2026`, RFC 2822, a number as text, seconds as a number) or is more than 23 hours in the future: the ' +
        'event is stored, the answer is 200, and nothing marks the event.',
    },
    uuid: { type: 'string', format: 'uuid', description: 'An event that is sent again is stored once.' },
  },
}

const EVENTS = {
  oneOf: [
    {
      type: 'object',
      required: ['api_key', 'batch'],
      properties: {
        api_key: { type: 'string', description: "The project's token." },
        batch: { type: 'array', items: EVENT },
        sent_at: {
          type: 'string',
          format: 'date-time',
          description: "Corrects the error of the client's clock.",
        },
      },
    },
    { ...EVENT, properties: { api_key: { type: 'string' }, ...EVENT.properties } },
    { type: 'array', items: EVENT },
  ],
}

const PERSON = {
  type: 'object',
  required: ['$token', '$distinct_id', '$set'],
  properties: {
    $token: { type: 'string', description: "The project's token." },
    $distinct_id: { type: 'string' },
    $set: { type: 'object', additionalProperties: true, description: "The person's properties." },
  },
}

const BATCH_OF_A_BEARER = {
  type: 'object',
  required: ['batch'],
  properties: {
    created_at: {
      type: 'string',
      format: 'date-time',
      description: "When it was sent, by the client's clock.",
    },
    batch: { type: 'array', items: EVENT },
  },
}

const TOKEN = 'phc_your_project_token'
const ORDER = {
  event: 'order completed',
  distinct_id: 'ada',
  properties: { total: 42, currency: 'EUR' },
  timestamp: '2026-11-15T05:40:10Z',
}
const IDENTIFY = {
  event: '$identify',
  distinct_id: 'ada',
  properties: { $set: { email: 'ada@example.com' } },
}
const GENERATION = {
  event: '$ai_generation',
  distinct_id: 'ada',
  properties: { $ai_model: 'a-model', $ai_input_tokens: 120, $ai_output_tokens: 40 },
}

const ONE_EVENT = { 'One event': { api_key: TOKEN, ...ORDER } }
const BATCH = { 'An event and who sent it': { api_key: TOKEN, batch: [IDENTIFY, ORDER] } }

type CapturePath = { summary: string; schema: object; examples: Record<string, unknown> }

const PATHS: Record<string, CapturePath> = {
  '/batch/': { summary: 'Send many events, up to 20 MB', schema: EVENTS, examples: BATCH },
  '/capture/': {
    summary: 'Send one event or a list',
    schema: EVENTS,
    examples: { ...ONE_EVENT, "A person's properties": { api_key: TOKEN, ...IDENTIFY } },
  },
  '/e/': { summary: 'Send events, as posthog-js does', schema: EVENTS, examples: ONE_EVENT },
  '/i/v0/e/': { summary: 'Send events, as posthog-js does', schema: EVENTS, examples: ONE_EVENT },
  '/track/': { summary: 'Send events', schema: EVENTS, examples: ONE_EVENT },
  '/engage/': {
    summary: 'Send a change of a person',
    schema: PERSON,
    examples: {
      "A person's properties": { $token: TOKEN, $distinct_id: 'ada', $set: { email: 'ada@example.com' } },
    },
  },
  '/i/v0/ai/batch/': {
    summary: 'Send many events, as libraries for language models do',
    schema: EVENTS,
    examples: { 'A call of a model': { api_key: TOKEN, batch: [GENERATION] } },
  },
  '/i/v1/analytics/events/': {
    summary: 'Send many events, with the token as a bearer',
    schema: BATCH_OF_A_BEARER,
    examples: {
      'One event': {
        created_at: '2026-11-15T05:40:11Z',
        batch: [{ uuid: '01a1ddb8-6160-7c6b-8764-8a95c5e4e4b5', ...ORDER }],
      },
    },
  },
}

const error = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

export const captureDocument = Object.fromEntries(
  Object.entries(PATHS).map(([path, { summary, schema, examples }]) => [
    path,
    {
      post: {
        operationId: `post${path.replaceAll('/', '_').replace(/_$/, '')}`,
        tags: ['Capture'],
        summary,
        description:
          'Open to anyone with the token of a project. JSON, plain or as gzip, base64, LZ-string or a form. All of it is ' +
          'stored when the answer is 200, and nothing of it otherwise.',
        security: [],
        requestBody: {
          required: true,
          content: { 'application/json': { schema, examples: namedExamples(examples) } },
        },
        responses: {
          200: {
            description: 'Stored.',
            content: {
              'application/json': { schema: path.startsWith('/i/v1/') ? RESULTS : STORED },
            },
          },
          400: error('Not decodable, or an event is wrong: its index is in `attr`.'),
          401: error('No token, or not one of a project.'),
          413: error('Too large.'),
          503: error('Too much is waiting: try again after `Retry-After`.'),
        },
      },
    },
  ]),
)
