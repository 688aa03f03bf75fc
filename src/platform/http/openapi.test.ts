import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { routes } from '../../app/http.ts'
import { VERSION } from '../../app/version.ts'
import { apiDocument } from '../../app/document.ts'
import { DESTINATIONS } from '../../features/batch-exports/destinations/index.ts'
import { INTRODUCTION, SECTIONS } from '../../app/introduction.ts'
import { openApiDocument } from './openapi.ts'

type Parameter = { name: string; in: string; required: boolean; schema: object }
type Content = { content?: { 'application/json': { schema: Record<string, unknown> } } }
type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security?: object[]
  parameters?: Parameter[]
  requestBody?: { required: boolean } & Content
  responses: Record<string, { description?: string; $ref?: string } & Content>
}
type Document = {
  openapi: string
  info: { title: string; version: string; description: string }
  tags: { name: string; description: string }[]
  security: Record<string, unknown>[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, object>
    responses: Record<string, object>
    securitySchemes: Record<string, object>
  }
}

const about = { version: VERSION, introduction: INTRODUCTION, sections: SECTIONS }
const document = openApiDocument(routes, about) as unknown as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method} ${path}`,
    path,
    method,
    operation,
  })),
)

const withBody = operations.filter(({ operation }) => operation.requestBody)
const named = (list: typeof operations) => list.map((each) => [each.name, each] as const)

/** Every object inside the document, with the place it was found at. */
function* objects(value: unknown, at = '#'): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [at, value as Record<string, unknown>]
  for (const [key, inner] of Object.entries(value)) yield* objects(inner, `${at}/${key}`)
}

describe('the document as a whole', () => {
  it('is OpenAPI 3.1 with a title and the version of the program', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/)
    expect(document.info).toMatchObject({ title: 'Longshore', version: VERSION })
  })

  it('is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document)
  })

  it('every $ref leads somewhere', () => {
    const refs = [...objects(document)].flatMap(([, value]) =>
      '$ref' in value ? [value['$ref'] as string] : [],
    )
    expect(refs.length).toBeGreaterThan(50)
    for (const ref of refs) {
      const [, kind, name] = /^#\/components\/(schemas|responses)\/([A-Za-z0-9._-]+)$/.exec(ref) ?? []
      expect(name, ref).toBeDefined()
      expect(document.components[kind as 'schemas' | 'responses'], ref).toHaveProperty(name!)
    }
  })

  it('every named schema is used', () => {
    const text = JSON.stringify(document)
    for (const kind of ['schemas', 'responses'] as const)
      for (const name of Object.keys(document.components[kind]))
        expect(text, name).toContain(`"#/components/${kind}/${name}"`)
  })

  it('operation ids are unique and fit for function names', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[a-z][a-z0-9_]*$/)
  })

  it('no two paths differ only in the names of their parameters', () => {
    const shapes = Object.keys(document.paths).map((path) => path.replace(/\{[^}]+\}/g, '{}'))
    expect(new Set(shapes).size).toBe(shapes.length)
  })

  it('opens with how to authenticate, and a command to try it', () => {
    expect(document.info.description).toMatch(/## Authentication[\s\S]+curl -H "Authorization: Bearer/)
  })

  it('every section is described, and has operations', () => {
    const whole = apiDocument() as unknown as Document
    const used = Object.values(whole.paths).flatMap((methods) =>
      Object.values(methods).map((each) => each.tags),
    )
    expect(new Set(used.flat())).toEqual(new Set(whole.tags.map((tag) => tag.name)))
    expect(used.every((tags) => tags.length === 1)).toBe(true)
    for (const { name, description } of whole.tags) expect(description, name).toMatch(/\.$/)
  })

  it('security schemes are declared', () => {
    const schemes = document.security.flatMap((demand) => Object.keys(demand))
    expect(Object.keys(document.components.securitySchemes).sort()).toEqual(schemes.sort())
  })

  it('every schema is valid JSON Schema 2020-12, formats included', () => {
    const ajv = new Ajv2020({ strict: false, validateSchema: true })
    addFormats.default(ajv)
    ajv.addSchema(document, 'api')
    for (const name of Object.keys(document.components.schemas)) {
      expect(() => ajv.getSchema(`api#/components/schemas/${name}`), name).not.toThrow()
    }
    // Many operations share them.
    const compiled = new Set<string>()
    for (const { name, operation } of operations) {
      const contents = [operation.requestBody, ...Object.values(operation.responses)]
      const schemas = contents.flatMap((content) => Object.values<{ schema: object }>(content?.content ?? {}))
      for (const { schema } of schemas) {
        const text = JSON.stringify(schema).replaceAll('#/components', 'api#/components')
        if (compiled.has(text)) continue
        compiled.add(text)
        expect(() => ajv.compile(JSON.parse(text) as object), name).not.toThrow()
      }
    }
  })
})

describe('the operations', () => {
  it('that stream say which messages they send, and what their data is', () => {
    const streams = operations.filter(({ path }) => path.endsWith('/stream/'))
    expect(streams.length).toBeGreaterThan(5)
    for (const { name, operation } of streams) {
      const content = operation.responses['200']!.content as unknown as Record<string, Record<string, object>>
      expect(Object.keys(content), name).toEqual(['text/event-stream'])
      expect(content['text/event-stream']!['x-messages'], name).toHaveProperty('end.$ref')
      expect(Object.keys(operation.responses), name).toEqual(expect.arrayContaining(['429', '503']))
    }
  })

  it('are the routes, no more and no fewer', () => {
    const expected = routes.map(
      (route) => `${route.method.toLowerCase()} ${route.path.replace(/:([a-z_]+)/g, '{$1}')}`,
    )
    expect(operations.map(({ name }) => name).sort()).toEqual(expected.sort())
  })

  it.each(named(operations))(
    '%s is described as the specification demands',
    (_name, { path, method, operation }) => {
      const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1])
      const parameters = operation.parameters ?? []
      expect(parameters.filter((each) => each.in === 'path').map((each) => each.name)).toEqual(inPath)
      expect(parameters.every((each) => each.in !== 'path' || each.required)).toBe(true)
      expect(new Set(parameters.map((each) => `${each.in} ${each.name}`)).size).toBe(parameters.length)
      expect(operation.summary).toMatch(/^[A-Z].*[^.]$/)
      expect(operation.description).toMatch(/\.$/)
      expect(Object.keys(operation.responses).some((status) => /^(2\d\d|303)$/.test(status))).toBe(true)
      expect(Object.values(operation.responses).every((each) => each.$ref || each.description)).toBe(true)
      expect(Object.keys(operation.responses).some((status) => /^4\d\d$/.test(status))).toBe(true)
      expect(operation.responses['default']?.content?.['application/json'].schema).toEqual({
        $ref: '#/components/schemas/Error',
      })
      if (method === 'get') expect(operation.requestBody).toBeUndefined()
    },
  )

  it.each(named(withBody))('%s says what its body looks like', (_name, { operation }) => {
    const schema = operation.requestBody!.content!['application/json'].schema
    expect(Object.keys(schema)).not.toEqual([])
  })

  it.each(
    routes.filter((route) => route.body).map((route) => [`${route.method} ${route.path}`, route] as const),
  )('%s has an example, which the route takes', (_name, { body, examples = {} }) => {
    expect(Object.keys(examples)).not.toEqual([])
    for (const [name, example] of Object.entries(examples))
      expect(body!.safeParse(example).error, name).toBeUndefined()
  })

  it('there is an example of an export to each destination, and its configuration is good', () => {
    const create = routes.find(({ method, path }) => method === 'POST' && path.endsWith('/batch_exports/'))!
    expect(Object.keys(create.examples!)).toEqual([...DESTINATIONS.keys()])
    for (const { type, config, example, faults } of DESTINATIONS.values()) {
      const parsed = config.safeParse(example)
      expect(parsed.error, type).toBeUndefined()
      expect(faults?.(parsed.data!) ?? null, type).toBeNull()
    }
  })

  it('say what they demand: scope and level, a session, or nothing', () => {
    const of = (name: string) => operations.find((each) => each.name === name)!.operation
    expect(of('patch /api/organizations/{id}/').description).toBe(
      'API key scope: `organization:write`. Level: admin or above. A session needs a sign-in within the last two hours.',
    )
    expect(of('get /api/organizations/{organization_id}/activity_log/').description).toContain(
      '`organization:read` or `activity_log:read`',
    )
    expect(of('post /api/personal_api_keys/').description).toContain('no API keys')
    expect(of('post /api/login/').security).toEqual([])
  })

  // The calls of this area as the API was first written down; clients rely on these very paths.
  it.each([
    ['/api/organizations/', 'get post'],
    ['/api/organizations/{id}/', 'get patch delete'],
    ['/api/organizations/{organization_id}/domains/', 'get post'],
    ['/api/organizations/{organization_id}/domains/{id}/', 'get patch delete'],
    ['/api/organizations/{organization_id}/domains/{id}/verify/', 'post'],
    ['/api/organizations/{organization_id}/invites/', 'get post'],
    ['/api/organizations/{organization_id}/invites/{id}/', 'delete'],
    ['/api/organizations/{organization_id}/invites/bulk/', 'post'],
    ['/api/organizations/{organization_id}/members/', 'get'],
    ['/api/organizations/{organization_id}/members/{user__uuid}/', 'patch delete'],
    ['/api/organizations/{organization_id}/projects/', 'get post'],
    ['/api/organizations/{organization_id}/projects/{id}/', 'get patch delete'],
    ['/api/projects/', 'get post'],
    ['/api/projects/{id}/', 'get patch delete'],
    ['/api/personal_api_keys/', 'get post'],
    ['/api/users/{uuid}/', 'get patch'],
  ])('%s offers %s', (path, methods) => {
    expect(Object.keys(document.paths[path] ?? {})).toEqual(expect.arrayContaining(methods.split(' ')))
  })

  it('lists take limit and offset and answer with count, next, previous and results', () => {
    const { parameters, responses } = document.paths['/api/organizations/']!['get']!
    expect(parameters!.map((each) => each.name)).toEqual(['limit', 'offset'])
    expect(responses['200']!.content!['application/json'].schema).toMatchObject({
      required: ['count', 'next', 'previous', 'results'],
      properties: { results: { type: 'array', items: { $ref: '#/components/schemas/Organization' } } },
    })
  })

  it('answers promise the fields of an organization with their types', () => {
    expect(document.components.schemas['Organization']).toMatchObject({
      type: 'object',
      properties: {
        id: { type: 'string', format: 'uuid' },
        created_at: { type: 'string', format: 'date-time' },
        membership_level: { type: 'integer' },
        teams: { type: 'array', items: { $ref: '#/components/schemas/BasicProject' } },
        metadata: { type: 'string' },
        member_count: { type: 'string' },
        enforce_2fa: { type: 'boolean' },
      },
    })
  })
})

describe('GET /api/schema/', () => {
  let app: TestApp
  beforeAll(async () => void (app = await startTestApp()))
  afterAll(() => app.close())

  it('gives the very document to anybody', async () => {
    const reply = await app.get('/api/schema/')
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual(JSON.parse(JSON.stringify(apiDocument())))
  })
})
