// mcp_tools/read_taxonomy/ through HTTP, as PostHog's agents call it.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import type { Scope } from '../../platform/http/scopes.ts'

let app: TestApp
let home: Workspace
beforeAll(async () => {
  app = await startTestApp()
  home = await createOrganization(app)
  const batch = [
    { event: 'visit', properties: { path: '/a', n: 1, $set: { plan: 'pro' } } },
    { event: 'visit', properties: { path: '/b', n: 2 } },
    { event: 'visit', properties: { path: '/a', n: 10 } },
    { event: 'buy', properties: { list: ['x'], $groups: { shop: 's1' } } },
    {
      event: '$groupidentify',
      properties: { $group_type: 'shop', $group_key: 's1', $group_set: { size: 3 } },
    },
  ].map((event) => ({ distinct_id: 'ann', ...event }))
  expect((await app.post('/batch/', { api_key: home.project.api_token, batch })).status).toBe(200)
  await app.definitions.flush()
})
afterAll(() => app.close())

const read = (query: unknown, key = home.owner.key) =>
  app.post(`/api/environments/${home.project.id}/mcp_tools/read_taxonomy/`, { args: { query } }, { key })

it.each([
  [{ kind: 'events' }, 'events:\n- `visit`\n- `$groupidentify`\n- `buy`'],
  [{ kind: 'events', limit: 1, offset: 1 }, 'events:\n- `$groupidentify`'],
  [{ kind: 'events', offset: 9 }, 'No events exist in the project.'],
  [
    { kind: 'event_properties', event_name: 'visit' },
    '<String>\n- $ip\n- path\n</String>\n<Numeric>\n- n\n</Numeric>',
  ],
  [{ kind: 'event_properties', event_name: 'nothing' }, 'The event nothing does not exist in the taxonomy.'],
  [{ kind: 'entity_properties', entity: 'persons' }, '<String>\n- plan\n</String>'],
  [{ kind: 'entity_properties', entity: 'shop' }, '<Numeric>\n- size\n</Numeric>'],
  [
    { kind: 'entity_properties', entity: 'session' },
    'The entity session does not exist in the taxonomy. There are: person, shop.',
  ],
  [{ kind: 'event_property_values', event_name: 'visit', property_name: 'path' }, '"/a", "/b"'],
  [
    { kind: 'event_property_values', event_name: 'visit', property_name: 'no' },
    'The property does not have any values in the taxonomy.',
  ],
  [{ kind: 'entity_property_values', entity: 'person', property_name: 'plan' }, '"pro"'],
  [{ kind: 'entity_property_values', entity: 'shop', property_name: 'size' }, '"3"'],
  [{ kind: 'action_properties', action_id: 5 }, 'No actions exist in the project.'],
])('%j', async (query, content) => {
  expect(await read(query)).toMatchObject({ status: 200, body: { success: true, content } })
})

it.each([[{ kind: 'what' }], [{}], [{ kind: 'event_properties' }], [{ kind: 'events', limit: 501 }], [null]])(
  '400 for %j',
  async (query) => {
    expect((await read(query)).status).toBe(400)
  },
)

it.each<[string, Scope[], number]>([
  ['events', ['property_definition:read'], 403],
  ['events', ['event_definition:read'], 200],
  ['event_properties', ['event_definition:read'], 403],
  ['event_properties', ['event_definition:read', 'property_definition:read'], 200],
  ['event_property_values', ['event_definition:read', 'property_definition:read', 'person:read'], 403],
  ['event_property_values', ['event_definition:read', 'query:read'], 200],
  ['entity_property_values', ['event_definition:read', 'property_definition:read'], 403],
])('%s with %j: %i', async (kind, scopes, status) => {
  const key = await createKey(app, home.owner, { scopes })
  const query = { kind, event_name: 'visit', entity: 'person', property_name: 'plan' }
  expect((await read(query, key)).status).toBe(status)
})

it('descriptions are told, hidden things are not', async () => {
  const { key } = home.owner
  const below = `/api/projects/${home.project.id}`
  const { body } = await app.get(`${below}/event_definitions/by_name/?name=buy`, { key })
  await app.patch(`${below}/event_definitions/${body.id}/`, { description: 'Somebody\npaid' }, { key })
  expect((await read({ kind: 'events' })).body.content).toContain('- `buy` - Somebody paid')
  const found = await app.get(`${below}/property_definitions/?properties=list`, { key })
  await app.patch(`${below}/property_definitions/${found.body.results[0].id}/`, { hidden: true }, { key })
  const { content } = (await read({ kind: 'event_properties', event_name: 'buy' })).body
  expect(content).toMatch(/^Description of `buy`: Somebody/)
  expect(content).not.toContain('list')
})
