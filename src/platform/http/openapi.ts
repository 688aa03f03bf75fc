// The OpenAPI 3.1 document, made from the very routes the server runs on.
import { z } from 'zod'
import { STREAM_TYPE } from './live/serve.ts'
import { errorComponents, errorResponses } from './openapi-errors.ts'
import type { Route } from './route.ts'

type Json = Record<string, unknown>

/** For the few routes that declare an error among their answers, because a cookie goes with it. */
export const ErrorAnswer = z
  .object({
    type: z.string(),
    code: z.string(),
    detail: z.string(),
    attr: z.string().nullable(),
    extra: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('More about it, where there is more: the place in a HogQL text, for one.'),
  })
  .meta({ id: 'Error', description: 'The one shape of every 4xx and 5xx answer.' })

/** Operations of one section stand together in the document. */
type Section = { name: string; paths: RegExp; description: string }

export type About = {
  version: string
  /** In Markdown. */
  introduction: string
  /** A path belongs to the first whose pattern fits. */
  sections: readonly Section[]
}

/** `others`: paths that are no routes, described by hand. */
export function openApiDocument(routes: readonly Route[], about: About, others: Json = {}): Json {
  const schemas: Json = {}
  const paths: Record<string, Json> = {}
  toSchema(ErrorAnswer, 'output', schemas)
  for (const route of routes) {
    const path = route.path.replace(/:([a-z_]+)/g, '{$1}')
    const tag = sectionOf(route.path, about.sections)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, tag, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Longshore',
      version: about.version,
      description: about.introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }, { session: [] }],
    tags: about.sections.map(({ name, description }) => ({ name, description })),
    paths: { ...paths, ...others },
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'A personal API key or a service key.' },
        session: { type: 'apiKey', in: 'cookie', name: 'sessionid' },
      },
      responses: errorComponents(),
      schemas: sortKeys(schemas),
    },
  }
}

function operation(route: Route, tag: string, schemas: Json): Json {
  const parameters = [...pathParameters(route), ...queryParameters(route, schemas)]
  return {
    operationId: operationId(route),
    tags: [tag],
    summary: route.summary,
    description: demand(route),
    ...(route.access === 'anyone' ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body
      ? {
          requestBody: {
            required: !route.body.safeParse({}).success,
            content: bodyContent(route, route.body, schemas),
          },
        }
      : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, schema]) => [
          status,
          {
            description: statusText(Number(status)),
            ...(schema ? { content: answerContent(route, schema, schemas) } : {}),
            ...(route.messages ? { content: streamContent(route.messages, schemas) } : {}),
          },
        ]),
      ),
      ...errorResponses(route),
      default: {
        description: 'Another error, in the same shape.',
        content: jsonContent(ErrorAnswer, 'output', schemas),
      },
    },
  }
}

function pathParameters(route: Route): Json[] {
  return [...route.path.matchAll(/:([a-z_]+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters(route: Route, schemas: Json): Json[] {
  if (!route.query) return []
  const { properties = {}, required = [] } = toSchema(route.query, 'input', schemas) as {
    properties?: Json
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema as Json
    return {
      name,
      in: 'query',
      required: required.includes(name),
      ...(description ? { description } : {}),
      schema: rest,
    }
  })
}

/** Example bodies by what each is for, as the document names them. */
export function namedExamples(examples: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(
    Object.entries(examples).map(([summary, value]) => [
      summary.toLowerCase().replace(/[^a-z0-9]+/g, '_'),
      { summary, value },
    ]),
  )
}

/** Forms are taken everywhere; only where they may hold files is there a need to know. */
function bodyContent(route: Route, body: z.ZodType, schemas: Json): Json {
  const schema = toSchema(body, 'input', schemas)
  const json = { schema, ...(route.examples ? { examples: namedExamples(route.examples) } : {}) }
  return {
    'application/json': json,
    ...(route.takes_files ? { 'multipart/form-data': { schema } } : {}),
  }
}

function answerContent(route: Route, schema: z.ZodType, schemas: Json): Json {
  const others = (route.also_answers ?? []).map((type) => [type, { schema: { type: 'string' } }])
  return { ...jsonContent(schema, 'output', schemas), ...Object.fromEntries(others) }
}

/** OpenAPI 3.1 has no words for messages: their names are told to people, their data's schemas to programs. */
function streamContent(messages: NonNullable<Route['messages']>, schemas: Json): Json {
  const names = Object.keys(messages).map((name) => `\`event: ${name}\``)
  const schema = { type: 'string', description: `Server-sent events: ${names.join(', ')}.` }
  const data = Object.entries(messages).map(([name, each]) => [name, toSchema(each, 'output', schemas)])
  return { [STREAM_TYPE]: { schema, 'x-messages': Object.fromEntries(data) } }
}

function jsonContent(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  return { 'application/json': { schema: toSchema(schema, io, schemas) } }
}

/** Named schemas move to the document's components; the rest stays in place. */
function toSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Json): Json {
  const {
    $schema: _,
    $defs = {},
    ...own
  } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema, zodSchema }) => tidy(jsonSchema as Json, zodSchema._zod.def.type),
  }) as Json & { $defs?: Json }
  Object.assign(schemas, repoint($defs) as Json)
  const id = own['id']
  if (typeof id !== 'string') return repoint(own) as Json
  schemas[id] = repoint(own) as Json
  return { $ref: `#/components/schemas/${id}` }
}

function tidy(schema: Json, type: string): void {
  // Clients send and get fields that a schema does not name; an `additionalProperties: false` would forbid it.
  if (type === 'object' && schema['additionalProperties'] === false) delete schema['additionalProperties']
  // The bounds of what a JavaScript number can hold say nothing about the API.
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum']
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum']
  if (type === 'record') schema['additionalProperties'] = true
}

function repoint(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(repoint)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => !(key === 'id' && typeof inner === 'string'))
      .map(([key, inner]) => [
        key,
        key === '$ref' ? String(inner).replace('#/$defs/', '#/components/schemas/') : repoint(inner),
      ]),
  )
}

function operationId(route: Route): string {
  const parts = route.path.split('/').filter((part) => part !== '' && part !== 'api')
  const names = parts.map((part) =>
    part.startsWith(':') ? `by_${part.slice(1)}` : part.replace(/[^a-z0-9]+/gi, '_'),
  )
  return [route.method.toLowerCase(), ...names].join('_')
}

function sectionOf(path: string, sections: readonly Section[]): string {
  const section = sections.find(({ paths }) => paths.test(path))
  if (!section) throw new Error(`${path} belongs to no section of the document`)
  return section.name
}

function demand(route: Route): string {
  if (route.access === 'anyone') return 'Open to anyone.'
  const level = route.level ? ` Level: ${route.level} or above.` : ''
  const further = `${level}${recency(route)}`
  if (route.access === 'session') return `Signed-in users only, no API keys.${further}`
  if (route.access === 'credential') return `Any valid key or session.${further}`
  const scopes = [route.scope ?? []].flat().map((scope) => `\`${scope}\``)
  return `API key scope: ${scopes.join(' or ')}.${further}`
}

function recency({ needs_recent_sign_in, changes_account: change }: Route): string {
  if (needs_recent_sign_in) return ' A session needs a sign-in within the last two hours.'
  if (change === undefined) return ''
  if (change === true) return ' Needs a sign-in within the last 15 minutes.'
  const harmless = change.unless_only.map((field) => `\`${field}\``).join(', ')
  return ` Fields other than ${harmless} need a sign-in within the last 15 minutes, or a personal key with the scope \`*\` and without limits.`
}

function statusText(status: number): string {
  return { 200: 'Done.', 201: 'Created.', 204: 'Done, nothing to say.' }[status] ?? String(status)
}

function sortKeys(object: Json): Json {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => a.localeCompare(b)))
}
