// The catalogue through HTTP, on the real stores: what the stream brings, what people add, what is counted.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'

const MINUTE = 60_000

let app: TestApp
let home: Workspace
beforeAll(async () => {
  app = await startTestApp()
  home = await createOrganization(app)
  await send(home, [
    {
      event: '$pageview',
      properties: { $browser: 'Chrome', price: null, $set: { email: 'ann@example.com' } },
    },
    { event: '$pageview', properties: { $browser: 'Safari', price: 5, $set_once: { born: '2001-02-03' } } },
    {
      event: 'bought',
      properties: { price: 7, items: [1, 2], utm_source: 'mail', $groups: { company: 'a' } },
    },
    {
      event: '$groupidentify',
      properties: { $group_type: 'company', $group_key: 'a', $group_set: { seats: 12 } },
    },
  ])
})
afterAll(() => app.close())

type Sent = { event: string; properties?: Record<string, unknown> }

async function send({ project }: Workspace, events: readonly Sent[], { flush = true } = {}): Promise<void> {
  const batch = events.map((event) => ({ distinct_id: 'ann', ...event }))
  expect((await app.post('/batch/', { api_key: project.api_token, batch })).status).toBe(200)
  if (flush) await app.definitions.flush()
}

const eventsOf = ({ project }: Workspace) => `/api/projects/${project.id}/event_definitions/`
const propertiesOf = ({ project }: Workspace) => `/api/projects/${project.id}/property_definitions/`

async function get(url: string, { owner }: Workspace = home) {
  const { status, body } = await app.get(url, { key: owner.key })
  expect({ status, body }).toMatchObject({ status: 200 })
  return body
}
const namesOf = async (url: string, workspace: Workspace = home): Promise<string[]> =>
  (await get(url, workspace)).results.map(({ name }: { name: string }) => name)

describe('GET event_definitions/', () => {
  it('200 gives exactly the fields of the API, counted from the stored events', async () => {
    const { count, results } = await get(eventsOf(home))
    expect(count).toBe(3)
    expect(results[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: '$groupidentify',
      description: '',
      tags: [],
      hidden: false,
      verified: false,
      verified_at: null,
      verified_by: null,
      created_at: expect.any(String),
      last_seen_at: expect.any(String),
      updated_at: expect.any(String),
      last_updated_at: expect.any(String),
      updated_by: null,
      volume: 1,
      owner: null,
      created_by: null,
      default_columns: [],
      post_to_slack: false,
      is_action: false,
      action_id: null,
      is_calculating: false,
      last_calculated_at: null,
    })
    expect(results.map(({ name, volume }: { name: string; volume: number }) => [name, volume])).toEqual([
      ['$groupidentify', 1],
      ['$pageview', 2],
      ['bought', 1],
    ])
    expect(await get(`${eventsOf(home)}by_name/?name=bought`)).toEqual(results[2])
    expect(await get(`/api/environments/${home.project.id}/event_definitions/${results[2].id}/`)).toEqual(
      results[2],
    )
  })

  it.each([
    ['search=PAGE', ['$pageview']],
    ['search=view%20%24p', ['$pageview']],
    ['search=%25', []],
    ['event_type=event_custom', ['bought']],
    ['event_type=event_posthog&ordering=-name', ['$pageview', '$groupidentify']],
    ['ordering=-volume', ['$pageview', '$groupidentify', 'bought']],
    ['ordering=event', ['$groupidentify', '$pageview', 'bought']],
    ['names=bought,nothing', ['bought']],
    ['excluded_properties=["bought"]', ['$groupidentify', '$pageview']],
    ['exclude_stale=true&limit=1&offset=1', ['$pageview']],
    ['verified=true', []],
    ['tags=["a"]', []],
  ])('200 for ?%s', async (query, names) => {
    expect(await namesOf(`${eventsOf(home)}?${query}`)).toEqual(names)
  })

  it.each([
    ['event_type=x', 'event_type', 'invalid_choice'],
    ['verified=perhaps', 'verified', 'invalid_input'],
    ['tags=a', 'tags', 'not_a_list'],
    ['excluded_properties={', 'excluded_properties', 'not_a_list'],
  ])('400 for ?%s', async (query, attr, code) => {
    const reply = await app.get(`${eventsOf(home)}?${query}`, { key: home.owner.key })
    expect(reply).toMatchObject({ status: 400, body: { attr, code } })
  })
})

describe('GET property_definitions/', () => {
  it('200 gives exactly the fields of the API', async () => {
    const { results } = await get(`${propertiesOf(home)}?properties=$browser`)
    expect(results).toEqual([
      {
        id: expect.any(String),
        name: '$browser',
        description: '',
        tags: [],
        hidden: false,
        verified: false,
        verified_at: null,
        verified_by: null,
        updated_at: expect.any(String),
        updated_by: null,
        property_type: 'String',
        is_numerical: false,
        is_seen_on_filtered_events: null,
        is_optimized: true,
      },
    ])
    expect(await get(`${propertiesOf(home)}${results[0].id}/`)).toEqual(results[0])
  })

  it.each([
    ['exclude_core_properties=true', ['items:null', 'price:Numeric']],
    ['type=person', ['born:DateTime', 'email:String']],
    ['type=group&group_type_index=0', ['seats:Numeric']],
    ['type=group&group_type_index=1', []],
    ['type=session', []],
    ['search=PRICE', ['price:Numeric']],
    ['is_numerical=true', ['price:Numeric']],
    ['is_feature_flag=true', []],
    ['properties=items,price&excluded_properties=["price"]', ['items:null']],
    [
      'event_names=["bought"]&filter_by_event_names=true&exclude_core_properties=true',
      ['items:null', 'price:Numeric'],
    ],
    [
      'event_names=["$pageview"]&filter_properties_by_event_names=true&search=i',
      ['$ip:String', 'price:Numeric'],
    ],
    ['event_names=["bought"]&properties=$browser,items', ['items:null', '$browser:String']],
  ])('200 for ?%s', async (query, found) => {
    const { results } = await get(`${propertiesOf(home)}?${query}`)
    const shown = (each: { name: string; property_type: string | null }) =>
      `${each.name}:${each.property_type}`
    expect(results.map(shown)).toEqual(found)
  })

  it('200 says on which events a property was seen', async () => {
    const { results } = await get(`${propertiesOf(home)}?event_names=["bought"]&properties=$browser,price`)
    const seen = results.map((each: Record<string, unknown>) => [each.name, each.is_seen_on_filtered_events])
    expect(seen).toEqual([
      ['price', true],
      ['$browser', false],
    ])
    const together = `${propertiesOf(home)}seen_together/?event_names=bought&event_names=$pageview&property_name=items`
    expect(await get(together)).toEqual({ bought: true, $pageview: false })
  })

  it.each([
    ['type=group', 'group_type_index', 'required'],
    ['group_type_index=1', 'group_type_index', 'invalid_input'],
    ['type=group&group_type_index=7', 'group_type_index', 'max_value'],
    ['type=person&event_names=["a"]', 'event_names', 'invalid_input'],
    ['type=what', 'type', 'invalid_choice'],
    ['event_names=bought', 'event_names', 'not_a_list'],
  ])('400 for ?%s', async (query, attr, code) => {
    const reply = await app.get(`${propertiesOf(home)}?${query}`, { key: home.owner.key })
    expect(reply).toMatchObject({ status: 400, body: { attr, code } })
  })
})

describe('PATCH', () => {
  it.each(['event', 'property'] as const)('200 of an %s notes who changed what', async (kind) => {
    const workspace = await createOrganization(app)
    await send(workspace, [{ event: 'ordered', properties: { total: '5' } }])
    const list = kind === 'event' ? eventsOf(workspace) : `${propertiesOf(workspace)}?properties=total`
    const [{ id }] = (await get(list, workspace)).results
    const url = `${list.replace(/\?.*/, '')}${id}/`
    const patch = (body: unknown) => app.patch(url, body, { key: workspace.owner.key })
    const first = await patch({ description: 'An order', tags: ['Money', 'money', ' b '], verified: true })
    expect(first).toMatchObject({
      status: 200,
      body: {
        description: 'An order',
        tags: ['b', 'money'],
        verified: true,
        verified_by: { id: workspace.owner.id },
        updated_by: { id: workspace.owner.id },
      },
    })
    expect((await patch({})).body).toEqual(first.body)
    const hidden = await patch({ hidden: true, name: 'other', volume: 7 })
    expect(hidden.body).toMatchObject({ hidden: true, verified: false, verified_at: null, verified_by: null })
    expect(hidden.body.name).toBe(first.body.name)
    expect(
      await namesOf(`${url.replace(`${id}/`, '')}?exclude_hidden=true&tags=["money"]`, workspace),
    ).toEqual([])
    expect(await namesOf(`${url.replace(`${id}/`, '')}?tags=["money"]`, workspace)).toEqual([first.body.name])
    expect(await patch({ hidden: true, verified: true })).toMatchObject({
      status: 400,
      body: { attr: 'hidden' },
    })
    expect(await patch({ description: 'x'.repeat(4001) })).toMatchObject({ status: 400 })
    const log = await get(
      `/api/organizations/${workspace.organization.id}/activity_log/?item_id=${id}`,
      workspace,
    )
    const scope = kind === 'event' ? 'EventDefinition' : 'PropertyDefinition'
    expect(
      log.results.map((entry: { scope: string; activity: string }) => [entry.scope, entry.activity]),
    ).toEqual([
      [scope, 'updated'],
      [scope, 'updated'],
    ])
  })

  it('a type that somebody has set stays, whatever comes', async () => {
    const workspace = await createOrganization(app)
    await send(workspace, [{ event: 'ordered', properties: { total: '5' } }])
    const [{ id }] = (await get(`${propertiesOf(workspace)}?properties=total`, workspace)).results
    const { key } = workspace.owner
    const { body } = await app.patch(
      `${propertiesOf(workspace)}${id}/`,
      { property_type: 'Numeric' },
      { key },
    )
    expect(body).toMatchObject({ property_type: 'Numeric', is_numerical: true })
    await send(workspace, [{ event: 'ordered', properties: { total: 'many' } }])
    expect(await get(`${propertiesOf(workspace)}${id}/`, workspace)).toMatchObject({
      property_type: 'Numeric',
    })
  })

  it('403 without the scope to write, and nothing changes', async () => {
    const { results } = await get(eventsOf(home))
    const key = await createKey(app, home.owner, { scopes: ['event_definition:read'] })
    expect((await app.patch(`${eventsOf(home)}${results[0].id}/`, { hidden: true }, { key })).status).toBe(
      403,
    )
    expect((await app.delete(`${eventsOf(home)}${results[0].id}/`, { key })).status).toBe(403)
    expect((await get(`${eventsOf(home)}${results[0].id}/`)).hidden).toBe(false)
  })
})

it('DELETE takes a definition out until the next such event', async () => {
  const workspace = await createOrganization(app)
  const { key } = workspace.owner
  await send(workspace, [{ event: 'typo', properties: { wrong: 1 } }, { event: 'right' }])
  const typo = await get(`${eventsOf(workspace)}by_name/?name=typo`, workspace)
  const [wrong] = (await get(`${propertiesOf(workspace)}?properties=wrong`, workspace)).results
  // One that is stored but not counted yet.
  await send(workspace, [{ event: 'typo', properties: { wrong: 1 } }])
  expect((await app.delete(`${eventsOf(workspace)}${typo.id}/`, { key })).status).toBe(204)
  expect((await app.delete(`${propertiesOf(workspace)}${wrong.id}/`, { key })).status).toBe(204)
  expect((await app.delete(`${eventsOf(workspace)}${typo.id}/`, { key })).status).toBe(404)
  app.advance(MINUTE)
  await send(workspace, [{ event: 'right' }])
  expect(await namesOf(eventsOf(workspace), workspace)).toEqual(['right'])
  expect(await namesOf(`${propertiesOf(workspace)}?search=wrong`, workspace)).toEqual([])
  await send(workspace, [{ event: 'typo', properties: { wrong: 1 } }])
  app.advance(MINUTE)
  expect(await get(`${eventsOf(workspace)}by_name/?name=typo`, workspace)).toMatchObject({ volume: 1 })
  expect(await namesOf(`${propertiesOf(workspace)}?search=wrong`, workspace)).toEqual(['wrong'])
})

it('what the stream lost in a crash is found from the stored events, and counted once', async () => {
  const workspace = await createOrganization(app)
  const { project } = workspace
  await send(workspace, [{ event: 'lost', properties: { also: true } }, { event: 'lost' }], { flush: false })
  // As if it had never been told.
  await app.services.changes.tell(app.db, 'definitions', project.id)
  expect(await get(`${eventsOf(workspace)}by_name/?name=lost`, workspace)).toMatchObject({ volume: 2 })
  expect(
    await namesOf(
      `${propertiesOf(workspace)}?event_names=["lost"]&filter_by_event_names=1&search=also`,
      workspace,
    ),
  ).toEqual(['also'])
  await send(workspace, [{ event: 'lost' }])
  app.advance(MINUTE)
  const asked = await Promise.all(
    [1, 2, 3, 4].map(() => app.get(eventsOf(workspace), { key: workspace.owner.key })),
  )
  expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(await get(`${eventsOf(workspace)}by_name/?name=lost`, workspace)).toMatchObject({ volume: 3 })
})

it('a deleted project takes its catalogue along, and what still comes for it does not bring it back', async () => {
  const workspace = await createOrganization(app)
  const { project, owner } = workspace
  await send(workspace, [{ event: 'gone', properties: { a: 1 } }])
  await get(eventsOf(workspace), workspace)
  expect((await app.delete(`/api/projects/${project.id}/`, { session: owner.session })).status).toBe(204)
  app.definitions.observe(project.id, { event: 'late', properties: { b: 1 } })
  await app.definitions.flush()
  for (const table of [sql`event_definition`, sql`property_definition`, sql`definition_count`])
    expect(await app.db.rows(sql`SELECT FROM ${table} WHERE project_id = ${project.id}`)).toEqual([])
})

it('another organization sees nothing of it', async () => {
  const other = await createOrganization(app)
  const { results } = await get(eventsOf(home))
  expect(await namesOf(eventsOf(other), other)).toEqual([])
  const { key } = other.owner
  expect((await app.get(eventsOf(home), { key })).status).toBe(403)
  expect((await app.get(`${eventsOf(other)}${results[0].id}/`, { key })).status).toBe(404)
})

describe('GET persons/values/', () => {
  it('200 gives values, those of most persons first, lists by their items', async () => {
    const workspace = await createOrganization(app)
    const set = (distinct_id: string, $set: object) => ({ event: 'set', distinct_id, properties: { $set } })
    await send(workspace, [
      set('ann', { plan: 'pro', langs: ['de', 'en'], n: 1 }),
      set('bob', { plan: 'pro', langs: 'en', n: null }),
      set('cle', { plan: 'free%', langs: [] }),
    ])
    const values = (query: string) =>
      get(`/api/projects/${workspace.project.id}/persons/values/?${query}`, workspace)
    expect(await values('key=plan')).toEqual([
      { name: 'pro', count: 2 },
      { name: 'free%', count: 1 },
    ])
    expect(await values('key=langs')).toEqual([
      { name: 'en', count: 2 },
      { name: 'de', count: 1 },
    ])
    expect(await values('key=n')).toEqual([{ name: 1, count: 1 }])
    expect(await values('key=plan&value=E%25')).toEqual([{ name: 'free%', count: 1 }])
    expect(await values('key=nothing')).toEqual([])
    const reply = await app.get(`/api/projects/${workspace.project.id}/persons/values/`, {
      key: workspace.owner.key,
    })
    expect(reply).toMatchObject({ status: 400, body: { attr: 'key', code: 'required' } })
  })
})
