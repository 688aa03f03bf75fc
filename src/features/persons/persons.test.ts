// Persons through the API: lists, filters, one person; and what other slices ask about them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { insertProject } from '../projects/queries.ts'
import { flush, personEvent } from './fixture/people.ts'
import { People } from './people.ts'
import type { PersonEvent } from './person-event.ts'
import { findDistinctIdsOfPerson, findPersonsByDistinctIds } from './queries.ts'
import { personUuid } from './rules.ts'

const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000'

let app: TestApp
let workspace: Workspace
let key: string
let project_id: number
let elsewhere: number
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  key = workspace.owner.key
  project_id = workspace.project.id
  elsewhere = (await insertProject(app.db, workspace.organization.id, {}, app.services.now())).id
  await apply(
    set('ann', {
      email: 'Ann@Example.com',
      name: 'Ann A.',
      age: 31,
      plan: 'paid',
      tags: ['x', 'y'],
      vip: true,
    }),
    set('bob', { name: 'Bob 100%', age: '7', plan: 'Free_plan', vip: false, note: null }),
    set('0190-1-2-3-4', { username: 'carol', age: 7.5, home: { city: 'Ghent', zip: 9000 } }),
    set('dan_1', { plan: 'x'.repeat(5000), age: 'unknown', email: 'e'.repeat(300) }),
    { ...set('ann', { email: 'ann@example.com', name: 'Other' }), project_id: elsewhere },
  )
  await apply(identify('ann', 'ann-phone'), identify('ann', 'gone'))
})
afterAll(() => app.close())

const apply = (...events: PersonEvent[]) => flush(app.db, new People(), events)
const set = (distinct_id: string, $set: object) =>
  personEvent({ project_id, distinct_id, properties: { $set } })
const identify = (distinct_id: string, $anon_distinct_id: string) =>
  personEvent({ project_id, distinct_id, event: '$identify', properties: { $anon_distinct_id } })

const BASES = ['/api/projects', '/api/environments']
const list = (query: Record<string, string> = {}, base = BASES[0]!) =>
  app.get(`${base}/${project_id}/persons/?${new URLSearchParams(query).toString()}`, { key })
const filtered = (...filters: object[]) => list({ properties: JSON.stringify(filters) })
const firstIds = ({ body }: Reply) =>
  body.results.map((person: { distinct_ids: string[] }) => person.distinct_ids[0])

describe.each(BASES)('GET %s/:project_id/persons/', (base) => {
  it('200 newest first, each with its name, ids and properties', async () => {
    const reply = await list({}, base)
    expect(reply).toMatchObject({ status: 200, body: { count: 4, next: null, previous: null } })
    expect(firstIds(reply)).toEqual(['dan_1', '0190-1-2-3-4', 'bob', 'ann'])
    expect(reply.body.results[3]).toEqual({
      id: expect.any(Number),
      uuid: personUuid(project_id, 'ann'),
      name: 'Ann@Example.com',
      distinct_ids: ['ann', 'ann-phone', 'gone'],
      properties: {
        email: 'Ann@Example.com',
        name: 'Ann A.',
        age: 31,
        plan: 'paid',
        tags: ['x', 'y'],
        vip: true,
        $creator_event_uuid: expect.any(String),
      },
      created_at: '2024-06-01T12:00:00.000Z',
      is_identified: true,
    })
  })

  it('200 in pages that meet without gap', async () => {
    const first = await list({ limit: '3', search: '' }, base)
    expect(first.body).toMatchObject({ count: 4, previous: null })
    const second = await app.get(first.body.next.replace('http://longshore.test', ''), { key })
    expect(second.body.next).toBeNull()
    expect([...firstIds(first), ...firstIds(second)]).toEqual(['dan_1', '0190-1-2-3-4', 'bob', 'ann'])
    expect(first.body.next).toContain(`${base}/${project_id}/persons/`)
  })

  it('404 and 200 for one person', async () => {
    const { body } = await list({ distinct_id: 'bob' }, base)
    const [bob] = body.results
    for (const id of [bob.id, bob.uuid, bob.uuid.toUpperCase()]) {
      const reply = await app.get(`${base}/${project_id}/persons/${id}/`, { key })
      expect(reply).toMatchObject({ status: 200, body: bob })
    }
    expect((await app.get(`${base}/${elsewhere}/persons/${bob.id}/`, { key })).status).toBe(404)
  })
})

describe('filters', () => {
  it.each<[Record<string, string>, string[]]>([
    [{ distinct_id: 'ann-phone' }, ['ann']],
    [{ distinct_id: 'Ann' }, []],
    [{ distinct_id: "x' OR '1'='1" }, []],
    [{ email: 'ann@example.COM' }, ['ann']],
    [{ email: 'ann@example' }, []],
    [{ email: 'E'.repeat(300) }, ['dan_1']],
    [{ email: 'e'.repeat(299) }, []],
    [{ search: 'BOB' }, ['bob']],
    [{ search: '100%' }, ['bob']],
    [{ search: '1_0' }, []],
    [{ search: '%' }, ['bob']],
    [{ search: '_' }, ['dan_1']],
    [{ search: '\\' }, []],
    [{ search: 'PHONE' }, ['ann']],
    [{ search: 'example.com' }, ['ann']],
    [{ search: 'carol' }, []],
    [{ email: 'ann@example.com', search: 'bob' }, []],
    [{ distinct_id: '', email: '', search: '', properties: '' }, ['dan_1', '0190-1-2-3-4', 'bob', 'ann']],
    [{ properties: '[]' }, ['dan_1', '0190-1-2-3-4', 'bob', 'ann']],
    [{ properties: '{}' }, ['dan_1', '0190-1-2-3-4', 'bob', 'ann']],
  ])('%j finds %j', async (query, expected) => {
    const reply = await list(query)
    expect(reply.status).toBe(200)
    expect(firstIds(reply)).toEqual(expected)
    expect(reply.body.count).toBe(expected.length)
  })

  const CAROL = '0190-1-2-3-4'
  it.each<[object, string[]]>([
    [{ key: 'plan', value: 'paid' }, ['ann']],
    [{ key: 'plan', value: 'PAID', operator: 'exact' }, []],
    [{ key: 'plan', value: ['paid', 'Free_plan'], type: 'person' }, ['bob', 'ann']],
    [{ key: 'plan', value: [] }, []],
    [{ key: 'age', value: 7 }, ['bob']],
    [{ key: 'age', value: '7.0' }, ['bob']],
    [{ key: 'age', value: 31 }, ['ann']],
    [{ key: 'vip', value: 'true' }, ['ann']],
    [{ key: 'vip', value: [false] }, ['bob']],
    [{ key: 'home', value: { zip: 9000, city: 'Ghent' } }, [CAROL]],
    [{ key: 'plan', value: 'paid', operator: 'is_not' }, ['dan_1', CAROL, 'bob']],
    [{ key: 'plan', value: [], operator: 'is_not' }, ['dan_1', CAROL, 'bob', 'ann']],
    [{ key: 'plan', value: 'E_P', operator: 'icontains' }, ['bob']],
    [{ key: 'plan', value: '%', operator: 'icontains' }, []],
    [{ key: 'plan', value: ['PAI', 'free'], operator: 'icontains' }, ['bob', 'ann']],
    [{ key: 'plan', value: 'a', operator: 'not_icontains' }, ['dan_1', CAROL]],
    [{ key: 'plan', value: '^p.*d$', operator: 'regex' }, ['ann']],
    [{ key: 'plan', value: '^p.*d$', operator: 'not_regex' }, ['dan_1', CAROL, 'bob']],
    [{ key: 'plan', value: '(', operator: 'regex' }, []],
    [{ key: 'plan', value: '(', operator: 'not_regex' }, []],
    [{ key: 'age', value: 7, operator: 'gt' }, [CAROL, 'ann']],
    [{ key: 'age', value: '7', operator: 'gte' }, [CAROL, 'bob', 'ann']],
    [{ key: 'age', value: 7.5, operator: 'lt' }, ['bob']],
    [{ key: 'age', value: '7.5e0', operator: 'lte' }, [CAROL, 'bob']],
    [{ key: 'email', operator: 'is_set' }, ['dan_1', 'ann']],
    [{ key: 'note', operator: 'is_set' }, []],
    [{ key: 'email', operator: 'is_not_set', value: 'x' }, [CAROL, 'bob']],
    [{ key: "a' || 'b", value: "'); DROP TABLE person; --" }, []],
    [{ key: '__proto__', operator: 'is_set' }, []],
    [{ key: 'age', value: '1e999', operator: 'gt' }, []],
  ])('%j finds %j', async (filter, expected) => {
    const reply = await filtered(filter)
    expect(reply.status).toBe(200)
    expect(firstIds(reply)).toEqual(expected)
    expect(reply.body.count).toBe(expected.length)
  })

  it('all filters of a list must hold', async () => {
    const isVip = { key: 'vip', operator: 'is_set' }
    expect(firstIds(await filtered(isVip, { key: 'age', value: 10, operator: 'lt' }))).toEqual(['bob'])
  })

  it.each([
    ['no JSON', '[{'],
    ['no list', '{"key":"plan","value":"paid"}'],
    ['a text', '"plan"'],
    ['a list of texts', '["plan"]'],
    ['no key', '[{"value":"paid"}]'],
    ['no value', '[{"key":"plan"}]'],
    ['a value that is null', '[{"key":"plan","value":null}]'],
    ['an unknown operator', '[{"key":"plan","value":1,"operator":"is_date_before"}]'],
    ['a name of Object as operator', '[{"key":"plan","value":1,"operator":"constructor"}]'],
    ['another type', '[{"key":"plan","value":1,"type":"event"}]'],
    ['more than a text compared by size', '[{"key":"age","value":"old","operator":"gt"}]'],
    ['NUL', String.raw`[{"key":"plan","value":"\u0000"}]`],
    ['NUL inside', String.raw`[{"key":"plan","value":[{"a":"\u0000"}]}]`],
    ['half a character in the key', String.raw`[{"key":"\ud800","value":"x"}]`],
    ['deep nesting', `[{"key":"plan","value":${'['.repeat(500)}${']'.repeat(500)}}]`],
    ['too many', JSON.stringify(Array.from({ length: 101 }, () => ({ key: 'a', operator: 'is_set' })))],
  ])('400 for %s', async (_, properties) => {
    const reply = await list({ properties })
    expect(reply).toMatchObject({
      status: 400,
      body: { type: 'validation_error', code: 'invalid_input', attr: 'properties' },
    })
  })

  it('400 for a page larger than can be held, and the way out works', async () => {
    const big = (await insertProject(app.db, workspace.organization.id, {}, app.services.now())).id
    await apply(...['a', 'b', 'c'].map((id) => ({ ...set(id, {}), project_id: big })))
    // What matters is what the rows say of themselves.
    await app.db.run(sql`UPDATE person SET properties_size = 25 * 1024 * 1024 WHERE project_id = ${big}`)
    const url = `/api/projects/${big}/persons/`
    expect(await app.get(url, { key })).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', attr: 'limit' },
    })
    expect(await app.get(`${url}?limit=2`, { key })).toMatchObject({ status: 200, body: { count: 3 } })
  })
})

describe('one person', () => {
  it.each(['nonsense', '0', '-1', '1.5', '99999999999999999', '9'.repeat(30), UNKNOWN_ID, '%00', '@me'])(
    '404 for %j',
    async (id) => {
      const reply = await app.get(`/api/projects/${project_id}/persons/${id}/`, { key })
      expect(reply).toMatchObject({ status: 404, body: { code: 'not_found' } })
    },
  )

  it('404 for one that became part of another, by UUID and by id', async () => {
    await apply(set('before', {}))
    const { body } = await list({ distinct_id: 'before' })
    await apply(set('after', {}), identify('after', 'before'))
    for (const id of [body.results[0].id, body.results[0].uuid]) {
      expect((await app.get(`/api/projects/${project_id}/persons/${id}/`, { key })).status).toBe(404)
    }
    expect((await list({ distinct_id: 'before' })).body.results[0].uuid).toBe(personUuid(project_id, 'after'))
  })

  it('a list shows the first hundred ids of a person, its own page more', async () => {
    const ids = Array.from({ length: 150 }, (_, index) => `many-${String(index).padStart(3, '0')}`)
    await apply(set('many', {}), ...ids.map((id) => identify('many', id)))
    const { body } = await list({ distinct_id: 'many' })
    expect(body.results[0].distinct_ids).toEqual(['many', ...ids].slice(0, 100))
    const one = await app.get(`/api/projects/${project_id}/persons/${body.results[0].id}/`, { key })
    expect(one.body.distinct_ids).toEqual(['many', ...ids])
  })

  it.each([
    [{ email: 'e@x.org', name: 'N', username: 'u' }, 'e@x.org'],
    [{ name: 'N', username: 'u' }, 'N'],
    [{ email: '', name: ' ', username: 'u' }, 'u'],
    [{ email: null, name: 42 }, '42'],
    [{ email: ['x'] }, 'named'],
    [{}, 'named'],
  ])('the name of %j is %j', async (properties, expected) => {
    const id = personUuid(0, JSON.stringify(properties))
    const project = (await insertProject(app.db, workspace.organization.id, {}, app.services.now())).id
    const events = [set(id, properties), identify(id, 'named')].map((event) => ({
      ...event,
      project_id: project,
    }))
    await apply(...events)
    const { body } = await app.get(`/api/projects/${project}/persons/`, { key })
    expect(body.results[0]).toMatchObject({ name: expected, distinct_ids: [id, 'named'] })
  })

  it('with random ids only, the first of them is the name', async () => {
    const id = personUuid(0, 'x')
    await apply(set(id, {}))
    expect((await list({ distinct_id: id })).body.results[0].name).toBe(id)
  })
})

describe('who may look', () => {
  it.each([
    [['person:read'], 200],
    [['person:write'], 200],
    [['query:read'], 200],
    [['project:read', 'organization:write'], 403],
  ])('a key with %j: %i', async (scopes, status) => {
    const limited = await createKey(app, workspace.owner, { scopes })
    for (const base of BASES) {
      const url = `${base}/${project_id}/persons/`
      expect((await app.get(url, { key: limited })).status).toBe(status)
      expect((await app.get(`${url}${personUuid(project_id, 'ann')}/`, { key: limited })).status).toBe(status)
    }
  })

  it('members yes, strangers no, nobody no', async () => {
    const member = await createMember(app, workspace.organization)
    const stranger = await createUser(app)
    const url = `/api/environments/${project_id}/persons/`
    expect((await app.get(url, { session: member.session })).status).toBe(200)
    expect((await app.get(url, { key: stranger.key })).status).toBe(403)
    expect((await app.get(url)).status).toBe(401)
  })

  it('a project shows its own persons only', async () => {
    const { body } = await app.get(`/api/projects/${elsewhere}/persons/`, { key })
    expect(body).toMatchObject({ count: 1, results: [{ properties: { name: 'Other' } }] })
    const url = `/api/projects/${elsewhere}/persons/${personUuid(project_id, 'ann')}/`
    expect((await app.get(url, { key })).status).toBe(404)
  })
})

describe('what other slices ask', () => {
  it('persons by distinct ids: with what they are shown by', async () => {
    const found = await findPersonsByDistinctIds(app.db, project_id, ['ann-phone', 'bob', 'nobody', 'ann'])
    const ann = {
      uuid: personUuid(project_id, 'ann'),
      is_identified: true,
      first_distinct_id: 'ann',
      properties: { email: 'Ann@Example.com', name: 'Ann A.' },
    }
    expect(found).toEqual(
      new Map<string, object>([
        ['ann', ann],
        ['ann-phone', ann],
        [
          'bob',
          {
            uuid: personUuid(project_id, 'bob'),
            is_identified: false,
            first_distinct_id: 'bob',
            properties: { name: 'Bob 100%' },
          },
        ],
      ]),
    )
    expect(await findPersonsByDistinctIds(app.db, project_id, [])).toEqual(new Map())
  })

  it('distinct ids of a person, by either id; none for the unknown, malformed or foreign', async () => {
    const { body } = await list({ distinct_id: 'ann' })
    const { id, uuid } = body.results[0]
    for (const each of [String(id), uuid]) {
      expect(await findDistinctIdsOfPerson(app.db, project_id, each)).toEqual(['ann', 'ann-phone', 'gone'])
      expect(await findDistinctIdsOfPerson(app.db, elsewhere, each)).toEqual([])
    }
    for (const each of ['', 'x', '-1', '1e3', UNKNOWN_ID, '999999999999999999']) {
      expect(await findDistinctIdsOfPerson(app.db, project_id, each)).toEqual([])
    }
  })
})
