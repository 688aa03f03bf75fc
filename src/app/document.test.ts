// What the document says of paths that are no routes: their bodies are accepted as they are shown.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization } from '../../test/factories.ts'
import { startTestApp, type TestApp } from '../../test/harness/app.ts'
import { createDirectory, personOf, type TestDirectory } from '../features/scim/fixture/directory.ts'
import { apiDocument } from './document.ts'

type Media = { schema: object; examples?: Record<string, { value: unknown }> }
type Operation = {
  tags: string[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, unknown>
}

const { paths } = apiDocument() as { paths: Record<string, Record<string, Operation>> }
const withBody = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { requestBody }]) => requestBody)
    .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
)
const examplesOf = ({ requestBody }: Operation) => {
  const [json] = Object.values(requestBody!.content)
  return Object.entries(json!.examples ?? {})
}

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

it('each operation with a body has an example of it', () => {
  const without = withBody.filter(({ operation }) => examplesOf(operation).length === 0)
  expect(without.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})

const rowsOf = (prefix: RegExp, tag: string) =>
  withBody
    .filter(({ path, operation }) => prefix.test(path) && operation.tags.includes(tag))
    .flatMap(({ path, method, operation }) =>
      examplesOf(operation).map(([name, { value }]) => ({ path, method, operation, name, value })),
    )

describe('examples of capture', () => {
  it.each(rowsOf(/^\//, 'Capture'))('$path $name: stored', async ({ path, operation, value }) => {
    const { project, owner } = await createOrganization(app)
    const body = JSON.parse(
      JSON.stringify(value).replaceAll('phc_your_project_token', project.api_token),
    ) as object
    const isBearer = !JSON.stringify(body).includes(project.api_token)
    const reply = await app.post(path, body, isBearer ? { key: project.api_token } : {})
    expect(Object.keys(operation.responses)).toContain(String(reply.status))
    expect(reply.status).toBe(200)
    const events = await app.get(`/api/projects/${project.id}/events/?after=2026-01-01&before=2030-01-01`, {
      key: owner.key,
    })
    expect(events.body.results.map((each: { distinct_id: string }) => each.distinct_id)).toContain('ada')
  })
})

it.each(rowsOf(/^\/mcp$/, 'Agents'))('the example of /mcp $name is answered', async ({ value }) => {
  const { owner } = await createOrganization(app)
  const headers = { accept: 'application/json, text/event-stream' }
  const reply = await app.post('/mcp', value, { key: owner.key, headers })
  expect(reply).toMatchObject({ status: 200, body: { result: expect.any(Object) } })
  expect(reply.body.result.isError ?? false).toBe(false)
})

describe('examples of SCIM', () => {
  const MEMBER = '01a1ddb8-6160-7c6b-8764-8a95c5e4e4b5'

  /** What paths and bodies name: a person, and the group that they are to join. */
  async function resourcesOf(directory: TestDirectory) {
    const person = await directory.call('POST', '/Users', personOf(directory, 'grace'))
    const group = await directory.call('POST', '/Groups', { displayName: 'Navy' })
    return { Users: String(person.body.id), Groups: String(group.body.id) }
  }

  it.each(rowsOf(/^\/scim\//, 'SCIM'))(
    '$method $path $name: done',
    async ({ path, method, operation, value }) => {
      const directory = await createDirectory(app)
      const ids = await resourcesOf(directory)
      const text = JSON.stringify(value)
        .replaceAll('@example.com', `@${directory.domain}`)
        .replaceAll(MEMBER, ids.Users)
      const at = path
        .replace('/scim/v2/{domain_id}', '')
        .replace('{id}', path.includes('/Users') ? ids.Users : ids.Groups)
      const reply = await directory.call(method, at, JSON.parse(text))
      expect(Object.keys(operation.responses)).toContain(String(reply.status))
      expect(reply.status).toBeLessThan(300)
      const statuses = (reply.body?.Operations ?? []).map((each: { status: string }) => each.status)
      expect(statuses.filter((status: string) => Number(status) >= 300)).toEqual([])
    },
  )
})

it('operations that ask something of many events or persons say that they may be stopped', () => {
  const stopped = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => '504' in responses)
      .map(([method]) => `${method} ${path}`),
  )
  expect(stopped).toEqual(
    expect.arrayContaining([
      'get /api/projects/{project_id}/events/',
      'get /api/projects/{project_id}/persons/',
      'post /api/environments/{project_id}/query/',
      'post /api/projects/{project_id}/mcp_tools/execute_sql/',
    ]),
  )
  expect(stopped.filter((name) => !name.includes('{project_id}'))).toEqual([])
})
