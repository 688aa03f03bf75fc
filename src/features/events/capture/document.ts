// The paths of capture for the OpenAPI document. They are no routes of the API: no key, no session, bodies of many kinds.

const PATHS = {
  '/batch/': 'Send many events, up to 20 MB',
  '/capture/': 'Send one event or a list',
  '/e/': 'Send events, as posthog-js does',
  '/i/v0/e/': 'Send events, as posthog-js does',
  '/track/': 'Send events',
  '/engage/': 'Send a change of a person',
  '/i/v0/ai/batch/': 'Send many events, as libraries for language models do',
  '/i/v1/analytics/events/': 'Send many events, with the token as a bearer',
}

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
      description: 'A number is milliseconds since 1970. Now, unless told.',
    },
    uuid: { type: 'string', format: 'uuid', description: 'An event that is sent again is stored once.' },
  },
}

const BODY = {
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

const error = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

export const captureDocument = Object.fromEntries(
  Object.entries(PATHS).map(([path, summary]) => [
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
        requestBody: { required: true, content: { 'application/json': { schema: BODY } } },
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
