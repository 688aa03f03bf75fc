// What events do to groups (events.md §8.5), on the real database.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { insertProject } from '../projects/queries.ts'
import { flush, groupsOf, groupTypesOf, NOON, personEvent, personsOf } from './fixture/people.ts'
import { People } from './people.ts'

let app: TestApp
let workspace: Workspace
let project_id: number
let people: People
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
})
afterAll(() => app.close())
beforeEach(async () => {
  project_id = await newProject()
  people = new People()
})

async function newProject(): Promise<number> {
  return (await insertProject(app.db, workspace.organization.id, {}, app.services.now())).id
}

const naming = ($groups: unknown, more = {}) =>
  personEvent({ project_id, distinct_id: 'ann', properties: { $groups }, ...more })
const identifying = ($group_type: unknown, $group_key: unknown, $group_set?: unknown, more = {}) =>
  personEvent({
    project_id,
    distinct_id: 'ann',
    event: '$groupidentify',
    properties: { $group_type, $group_key, $group_set },
    ...more,
  })
const apply = (...events: ReturnType<typeof naming>[]) => flush(app.db, people, events)

describe('$groups', () => {
  it('gives types their index first come, and sets $group_<i>', async () => {
    const first = naming({ company: 'acme', team: 'red' })
    const second = naming({ team: 'blue', company: 'acme', site: 7 })
    await apply(first, second)
    expect(first.properties).toEqual({
      $groups: { company: 'acme', team: 'red' },
      $group_0: 'acme',
      $group_1: 'red',
    })
    expect(second.properties).toMatchObject({ $group_0: 'acme', $group_1: 'blue', $group_2: '7' })
    expect(await groupTypesOf(app, project_id)).toEqual(['company', 'team', 'site'])
    expect(await groupsOf(app, project_id)).toEqual([])
  })

  it('keeps the indexes in later flushes, remembered or not', async () => {
    await apply(naming({ a: '1', b: '2' }))
    for (const each of [people, new People()]) {
      const event = naming({ b: 'x', c: 'y' })
      await flush(app.db, each, [event])
      expect(event.properties).toMatchObject({ $group_1: 'x', $group_2: 'y' })
    }
    expect(await groupTypesOf(app, project_id)).toEqual(['a', 'b', 'c'])
  })

  it('a sixth type is ignored, the five others are not', async () => {
    await apply(naming({ a: '1', b: '1', c: '1' }), naming({ d: '1', e: '1', f: '1' }))
    const event = naming({ f: 'no', e: 'yes', a: 'yes too' })
    await apply(event, identifying('f', 'acme', { x: 1 }))
    const { $groups: _, ...set } = event.properties
    expect(set).toEqual({ $group_4: 'yes', $group_0: 'yes too' })
    expect(await groupTypesOf(app, project_id)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(await groupsOf(app, project_id)).toEqual([])
  })

  it.each([
    [7, '7'],
    [true, 'true'],
    [{ a: 1 }, '{"a":1}'],
    ['x'.repeat(500), 'x'.repeat(400)],
    ['🪲'.repeat(401), '🪲'.repeat(400)],
    [' ', ' '],
  ])('the key %j becomes %j', async (given, expected) => {
    const event = naming({ company: given })
    await apply(event)
    expect(event.properties.$group_0).toBe(expected)
  })

  it.each([
    ['no object', 'acme'],
    ['a list', ['acme']],
    ['nothing', null],
    ['a key that is null', { company: null }],
    ['an empty key', { company: '' }],
    ['a blank name', { ' ': 'acme' }],
    ['an endless name', { ['x'.repeat(401)]: 'acme' }],
  ])('%s names no type', async (_, $groups) => {
    const event = naming($groups)
    await apply(event)
    expect(event.properties).toEqual({ $groups })
    expect(await groupTypesOf(app, project_id)).toEqual([])
  })

  it('names of Object and ten thousand names do no harm', async () => {
    const hostile = JSON.parse('{"__proto__": "p", "constructor": "c"}')
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`type ${index}`, 'x']))
    const events = [naming(hostile), naming(many), naming({ company: 'acme' })]
    await apply(...events)
    expect(events[0]!.properties).toMatchObject({ $group_0: 'p', $group_1: 'c' })
    expect(Object.keys(events[1]!.properties)).toEqual(['$groups', '$group_2', '$group_3', '$group_4'])
    expect(Object.keys(events[2]!.properties)).toEqual(['$groups'])
    expect(await groupTypesOf(app, project_id)).toEqual([
      '__proto__',
      'constructor',
      'type 0',
      'type 1',
      'type 2',
    ])
  })

  it('counts for events without a person as well, and in each project for itself', async () => {
    const other = await newProject()
    await apply(naming({ team: 'x' }))
    const events = [
      naming({ company: 'acme' }, { has_person: false }),
      naming({ company: 'acme' }, { project_id: other, has_person: false }),
    ]
    await apply(...events)
    expect(events[0]!.properties).toMatchObject({ $group_1: 'acme' })
    expect(events[1]!.properties).toMatchObject({ $group_0: 'acme' })
    expect(await personsOf(app, other)).toEqual([])
  })
})

describe('$groupidentify', () => {
  it('makes the group with its type, and merges what is set', async () => {
    const { copies, range } = await apply(
      identifying('company', 'acme', { size: 5, plan: 'free' }),
      identifying('company', 'acme', { plan: 'paid' }),
      identifying('company', 'other'),
    )
    expect(await groupsOf(app, project_id)).toEqual([
      { index: 0, key: 'acme', properties: { size: 5, plan: 'paid' } },
      { index: 0, key: 'other', properties: {} },
    ])
    expect(range!.last).toBeGreaterThan(range!.after)
    expect(copies.get(project_id)!.groups).toEqual([
      { index: 0, key: 'acme', created_at: NOON, properties: '{"size":5,"plan":"paid"}' },
      { index: 0, key: 'other', created_at: NOON, properties: '{}' },
    ])
    // The event is one of a person as any other.
    expect(await personsOf(app, project_id)).toHaveLength(1)
  })

  it('goes on from what the table has, and keeps when it was made', async () => {
    await apply(identifying('company', 'acme', { a: 1 }))
    const later = identifying('company', 'acme', { b: 2 }, { timestamp: NOON + 9n })
    const { copies } = await flush(app.db, new People(), [later])
    expect(copies.get(project_id)!.groups).toMatchObject([{ created_at: NOON }])
    expect(await groupsOf(app, project_id)).toEqual([{ index: 0, key: 'acme', properties: { a: 1, b: 2 } }])
  })

  it('that changes nothing writes nothing', async () => {
    await apply(identifying('company', 'acme', { a: 1 }))
    for (const each of [people, new People()]) {
      expect(await flush(app.db, each, [identifying('company', 'acme', { a: 1 })])).toMatchObject({
        range: null,
        copies: new Map(),
      })
    }
  })

  it.each([
    ['no type', undefined, 'acme'],
    ['a type that is no text', 5, 'acme'],
    ['no key', 'company', null],
    ['an empty key', 'company', ''],
  ])('%s does nothing', async (_, type, key) => {
    await apply(identifying(type, key, { a: 1 }))
    expect(await groupsOf(app, project_id)).toEqual([])
    expect(await groupTypesOf(app, project_id)).toEqual([])
  })

  it('a set that is no object sets nothing', async () => {
    await apply(identifying('company', 7, ['x']))
    expect(await groupsOf(app, project_id)).toEqual([{ index: 0, key: '7', properties: {} }])
  })

  it('many groups are taken in turns', async () => {
    const events = Array.from({ length: 240 }, (_, index) =>
      identifying('company', `c${index % 120}`, { [`n${Math.floor(index / 120)}`]: index }),
    )
    const { copies } = await apply(...events)
    const groups = await groupsOf(app, project_id)
    expect(groups).toHaveLength(120)
    expect(groups.every(({ properties }) => Object.keys(properties).length === 2)).toBe(true)
    expect(copies.get(project_id)!.groups).toHaveLength(120)
  })

  it('goes with its project', async () => {
    await apply(identifying('company', 'acme'))
    await app.db.run(sql`DELETE FROM project WHERE id = ${project_id}`)
    expect(await groupsOf(app, project_id)).toEqual([])
    expect(await groupTypesOf(app, project_id)).toEqual([])
  })
})

describe('GET …/groups_types/', () => {
  const types = (id: number, key: string) => app.get(`/api/projects/${id}/groups_types/`, { key })

  it('lists the types of this project by their index', async () => {
    const other = await newProject()
    await apply(naming({ company: 'acme', team: 'red' }), naming({ site: 'x' }, { project_id: other }))
    const { status, body } = await types(project_id, workspace.owner.key)
    expect([status, body]).toEqual([
      200,
      [
        { group_type: 'company', group_type_index: 0, name_singular: null, name_plural: null },
        { group_type: 'team', group_type_index: 1, name_singular: null, name_plural: null },
      ],
    ])
  })

  it.each([
    [['group:read'], 200],
    [['query:read'], 200],
    [['person:read'], 403],
  ])('with the scopes %j: %i', async (scopes, status) => {
    const key = await createKey(app, workspace.owner, { scopes })
    expect((await types(project_id, key)).status).toBe(status)
  })
})
