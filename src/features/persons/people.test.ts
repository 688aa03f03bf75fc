// What events do to persons, row by row of events.md §8.4, on the real database.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { uuid5 } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql, type Statement } from '../../platform/db/sql.ts'
import { deleteProject, insertProject } from '../projects/queries.ts'
import {
  flush,
  Mirror,
  mirrored,
  NOON,
  onlyPerson,
  personEvent,
  personOf,
  personsOf,
} from './fixture/people.ts'
import { changedSince } from './changed-since.ts'
import { People } from './people.ts'
import type { PersonEvent } from './person-event.ts'

const NAMESPACE = '932979b4-65c3-4424-8467-0b66ec27bc22'

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

const seen = (distinct_id: string, properties = {}, more: Partial<PersonEvent> = {}) =>
  personEvent({ project_id, distinct_id, properties, ...more })
const set = (distinct_id: string, $set: object) => seen(distinct_id, { $set })
const identify = (distinct_id: string, $anon_distinct_id: unknown, more = {}) =>
  seen(distinct_id, { $anon_distinct_id, ...more }, { event: '$identify' })
const alias = (distinct_id: string, other: unknown, event = '$create_alias') =>
  seen(distinct_id, { alias: other }, { event })
const uuidOf = (id: string, project = project_id) => uuid5(NAMESPACE, `${project}:${id}`)

const apply = (...events: PersonEvent[]) => flush(app.db, people, events)
/** Each in a flush of its own, nothing remembered in between. */
async function applyCold(...events: PersonEvent[]) {
  for (const event of events) await flush(app.db, new People(), [event])
}
/** What rows say of their own size is what counts. */
const pretendSize = (size: number) =>
  app.db.run(sql`UPDATE person SET properties_size = ${size} WHERE project_id = ${project_id}`)
const mapping = async () =>
  Object.fromEntries((await personsOf(app, project_id)).map((person) => [person.uuid, person.distinct_ids]))

const WAYS = [
  ['in one flush', apply],
  ['one by one, each time from the tables', applyCold],
] as const

describe('the first event of a distinct id', () => {
  it('makes a person with the event time, not identified, with a UUID that follows from the id', async () => {
    const event = seen('ann', {
      $set_once: { plan: 'free', source: 'ad' },
      $set: { plan: 'paid', 'odd key': [1, { a: null }] },
    })
    const { copies, range, gone } = await apply({ ...event, timestamp: NOON + 123_456n })
    const person = await onlyPerson(app, project_id)
    expect(person).toEqual({
      uuid: uuidOf('ann'),
      properties: {
        plan: 'paid',
        source: 'ad',
        'odd key': [1, { a: null }],
        $creator_event_uuid: event.uuid,
      },
      is_identified: false,
      created_at: NOON + 123_456n,
      distinct_ids: ['ann'],
    })
    expect(gone.size).toBe(0)
    expect(range!.after).toBe(copies.get(project_id)!.head)
    expect(range!.last).toBeGreaterThan(range!.after)
    expect([...copies.keys()]).toEqual([project_id])
    expect(copies.get(project_id)).toMatchObject({
      persons: [{ id: person.uuid, created_at: NOON + 123_456n, is_identified: false }],
      deleted_persons: [],
      distinct_ids: [{ distinct_id: 'ann', person_id: person.uuid }],
      groups: [],
    })
  })

  it('names its maker whatever the event sets or deletes', async () => {
    const event = seen('ann', { $set: { $creator_event_uuid: 'mine' }, $unset: ['$creator_event_uuid'] })
    await apply(event)
    expect((await onlyPerson(app, project_id)).properties).toEqual({ $creator_event_uuid: event.uuid })
  })

  it.each([
    ['before 1970', -62_135_596_800_000_000n],
    ['to the microsecond', 1n],
    ['far ahead', 253_402_300_799_999_999n],
  ])('keeps its time: %s', async (_, timestamp) => {
    await apply({ ...seen('ann'), timestamp })
    expect((await onlyPerson(app, project_id)).created_at).toBe(timestamp)
    await flush(app.db, new People(), [set('ann', { a: 1 })])
    expect((await onlyPerson(app, project_id)).created_at).toBe(timestamp)
  })

  it('makes no person when the event asks for none, and changes none', async () => {
    const plain = { ...set('ann', { a: 1 }), has_person: false }
    const changes = await apply(plain, { ...identify('ann', 'anon'), has_person: false })
    expect(await personsOf(app, project_id)).toEqual([])
    expect(changes).toEqual({ copies: new Map(), range: null, gone: new Set() })
    await apply(seen('ann'), { ...set('ann', { a: 1 }), has_person: false })
    expect((await onlyPerson(app, project_id)).properties).not.toHaveProperty('a')
  })
})

it('an address longer than an index can hold is stored like others', async () => {
  const email = randomBytes(20_000).toString('base64')
  await apply(set('ann', { email }))
  expect((await onlyPerson(app, project_id)).properties).toMatchObject({ email })
})

describe.each(WAYS)('properties, %s', (_, run) => {
  const cases: [string, object[], Record<string, unknown>][] = [
    ['$set overwrites', [{ $set: { a: 1 } }, { $set: { a: 2 } }], { a: 2 }],
    ['$set_once fills only', [{ $set_once: { a: 1 } }, { $set_once: { a: 2, b: 3 } }], { a: 1, b: 3 }],
    ['a null counts as there', [{ $set: { a: null } }, { $set_once: { a: 2 } }], { a: null }],
    ['$set wins over $set_once', [{}, { $set: { a: 1 }, $set_once: { a: 2 } }], { a: 1 }],
    ['$unset comes last', [{}, { $set: { a: 1, b: 1 }, $set_once: { c: 1 }, $unset: ['a', 'c'] }], { b: 1 }],
    ['$unset deletes', [{ $set: { a: 1, b: 2 } }, { $unset: ['a', 'none', 7, null] }], { b: 2 }],
    ['$unset by keys', [{ $set: { a: 1, b: 2 } }, { $unset: { a: '', x: 1 } }], { b: 2 }],
    ['deleted, then $set_once', [{ $set: { a: 1 } }, { $unset: ['a'] }, { $set_once: { a: 2 } }], { a: 2 }],
    ['values are replaced whole', [{ $set: { a: { x: 1 } } }, { $set: { a: { y: 2 } } }], { a: { y: 2 } }],
    [
      'wrong shapes are ignored',
      [
        { $set: [1], $set_once: 'x', $unset: 'a' },
        { $set: null, $unset: 5 },
      ],
      {},
    ],
    ['names of Object', [{ $set: { constructor: 1, toString: 2 } }], { constructor: 1, toString: 2 }],
    ['an empty key', [{ $set: { '': 1 } }, { $set_once: { '': 2 } }], { '': 1 }],
  ]
  it.each(cases)('%s', async (_name, updates, expected) => {
    await run(...updates.map((properties) => seen('ann', properties)))
    const { $creator_event_uuid, ...rest } = (await onlyPerson(app, project_id)).properties
    expect(rest).toEqual(expected)
    expect($creator_event_uuid).toEqual(expect.any(String))
  })

  it('`__proto__` is a key like others', async () => {
    const hostile = JSON.parse('{"__proto__": {"is_admin": true}, "a": 1}')
    await run(set('ann', hostile), set('ann', { a: 2 }), seen('ann', { $unset: ['b'] }))
    const { properties } = await onlyPerson(app, project_id)
    expect(Object.hasOwn(properties, '__proto__')).toBe(true)
    expect(properties).toMatchObject({ a: 2 })
    expect(({} as Record<string, unknown>).is_admin).toBeUndefined()
  })
})

describe('an event that changes nothing', () => {
  const before = { text: 'a', list: [1, { b: [], c: null }], number: 1.5, truth: false, none: null }
  beforeEach(async () => {
    await apply(set('ann', before), identify('ann', 'anon'))
  })

  it.each<[string, () => PersonEvent]>([
    ['sets nothing', () => seen('ann')],
    ['sets the same', () => set('ann', before)],
    ['sets the same in another order', () => set('ann', { list: [1, { c: null, b: [] }], text: 'a' })],
    ['fills what is there', () => seen('ann', { $set_once: { text: 'b' } })],
    ['deletes what is not there', () => seen('ann', { $unset: ['missing'] })],
    ['sets and deletes at once', () => seen('ann', { $set: { new: 1 }, $unset: ['new'] })],
    ['merges what is merged', () => identify('ann', 'anon')],
    ['sets a number beyond all doubles where null is', () => set('ann', { none: Infinity })],
  ])('%s: no write, no copy, whether remembered or not', async (_, event) => {
    const stored = () =>
      app.db.rows(sql`SELECT xmin::text, change FROM person WHERE project_id = ${project_id}`)
    const rows = await stored()
    for (const each of [people, new People()]) {
      expect(await flush(app.db, each, [event()])).toEqual({
        copies: new Map(),
        range: null,
        gone: new Set(),
      })
    }
    expect(await stored()).toEqual(rows)
  })

  it.each([
    ['another type', { number: '1.5' }],
    ['a list for an object', { list: { 0: 1, 1: { b: [], c: null } } }],
    ['one more inside', { list: [1, { b: [], c: null, d: 1 }] }],
    ['a missing key inside', { list: [1, { b: [] }] }],
    ['false for null', { none: false }],
    ['zero for null', { none: 0 }],
  ])('but %s is a change', async (_, change) => {
    const { copies } = await apply(set('ann', change))
    expect(JSON.parse(copies.get(project_id)!.persons[0]!.properties)).toMatchObject(change)
    expect((await onlyPerson(app, project_id)).properties).toMatchObject(change)
  })
})

/** Tells of each statement that gives rows, and of how many. */
function watched(tell: (text: string, rows: number) => void): Db {
  return {
    ...app.db,
    transaction: (work) =>
      app.db.transaction((tx) =>
        work({
          ...tx,
          rows: async <Row>(statement: Statement) => {
            const rows = await tx.rows<Row>(statement)
            tell(statement.text, rows.length)
            return rows
          },
        }),
      ),
  }
}

describe('known persons cost no statement about them', () => {
  it('but the one that holds the projects', async () => {
    await apply(set('ann', { a: 1 }), identify('bob', 'anon'))
    const statements: string[] = []
    const events = [set('ann', { a: 1 }), identify('bob', 'anon'), seen('anon')]
    await flush(
      watched((text) => statements.push(text)),
      people,
      events,
    )
    expect(statements).toHaveLength(1)
    expect(statements[0]).toContain('FROM project')
  })
})

describe('the limit of a megabyte', () => {
  const big = 'x'.repeat(700_000)
  it.each(WAYS)('refuses the whole update that would pass it, %s', async (_, run) => {
    await run(set('ann', { big, a: 1 }), set('ann', { more: big, a: 2 }), set('ann', { a: 3 }))
    const { properties } = await onlyPerson(app, project_id)
    expect(properties).toMatchObject({ big, a: 3 })
    expect(properties).not.toHaveProperty('more')
  })

  it.each(WAYS)('leaves room after a deletion, %s', async (_, run) => {
    await run(set('ann', { big }), seen('ann', { $set: { more: big }, $unset: ['big'] }))
    expect((await onlyPerson(app, project_id)).properties).toMatchObject({ more: big })
  })

  it.each(WAYS)('lets a merge happen without the other properties, %s', async (_, run) => {
    await run(set('anon', { big, a: 1 }), set('ann', { more: big }), identify('ann', 'anon'))
    const { properties, distinct_ids } = await onlyPerson(app, project_id)
    expect(distinct_ids).toEqual(['ann', 'anon'])
    expect(properties).toMatchObject({ more: big })
    expect(properties).not.toHaveProperty('a')
  })
})

describe.each(WAYS)('merging, %s', (_, run) => {
  it('neither known: one identified person with both ids, made by the event', async () => {
    const event = identify('ann', 'anon', { $set: { a: 1 } })
    await run(event)
    expect(await onlyPerson(app, project_id)).toEqual({
      uuid: uuidOf('ann'),
      properties: { a: 1, $creator_event_uuid: event.uuid },
      is_identified: true,
      created_at: NOON,
      distinct_ids: ['ann', 'anon'],
    })
  })

  it('only the other known: the id is added to it', async () => {
    await run(set('anon', { a: 1 }), identify('ann', 'anon', { $set: { b: 2 } }))
    expect(await onlyPerson(app, project_id)).toMatchObject({
      uuid: uuidOf('anon'),
      properties: { a: 1, b: 2 },
      is_identified: true,
      distinct_ids: ['anon', 'ann'],
    })
  })

  it('only the other known and identified: the id is added all the same', async () => {
    await run(identify('ann', 'anon'), alias('new', 'ann'))
    expect(await mapping()).toEqual({ [uuidOf('ann')]: ['ann', 'anon', 'new'] })
  })

  it('only the target known: the other id is added', async () => {
    await run(set('ann', { a: 1 }), identify('ann', 'anon'))
    expect(await onlyPerson(app, project_id)).toMatchObject({
      uuid: uuidOf('ann'),
      is_identified: true,
      distinct_ids: ['ann', 'anon'],
    })
  })

  it('both known: properties in layers, older date, ids moved, the other gone', async () => {
    await run(
      seen('anon', { $set: { a: 'anon', b: 'anon', c: 'anon' } }, { timestamp: NOON - 5n }),
      set('ann', { b: 'ann', c: 'ann' }),
      identify('ann', 'anon', { $set: { c: 'event' }, $set_once: { a: 'once', d: 'once' } }),
    )
    expect(await onlyPerson(app, project_id)).toMatchObject({
      uuid: uuidOf('ann'),
      properties: { a: 'anon', b: 'ann', c: 'event', d: 'once' },
      is_identified: true,
      created_at: NOON - 5n,
      distinct_ids: ['ann', 'anon'],
    })
  })

  it('both known: the date stays where the target is the older', async () => {
    await run(
      { ...seen('anon'), timestamp: NOON + 5n },
      { ...seen('ann'), timestamp: NOON + 1n },
      identify('ann', 'anon'),
    )
    expect((await onlyPerson(app, project_id)).created_at).toBe(NOON + 1n)
  })

  it.each(['$identify', '$create_alias'])('%s refuses an identified other', async (event) => {
    await run(identify('bob', 'bob-anon'), seen('ann'))
    const ask = event === '$identify' ? identify('ann', 'bob') : alias('ann', 'bob')
    ask.properties.$set = { a: 1 }
    await run(ask)
    expect(await mapping()).toEqual({ [uuidOf('ann')]: ['ann'], [uuidOf('bob')]: ['bob', 'bob-anon'] })
    expect(await personOf(app, project_id, 'ann')).toMatchObject({
      is_identified: true,
      properties: { a: 1 },
    })
    expect((await personOf(app, project_id, 'bob'))!.properties).not.toHaveProperty('a')
  })

  it('$identify merges into an identified person', async () => {
    await run(identify('bob', 'phone'), seen('laptop'), identify('bob', 'laptop'))
    expect(await mapping()).toEqual({ [uuidOf('bob')]: ['bob', 'phone', 'laptop'] })
  })

  it('$merge_dangerously merges an identified one away', async () => {
    await run(identify('bob', 'bob-anon'), seen('ann'), alias('ann', 'bob', '$merge_dangerously'))
    expect(await mapping()).toEqual({ [uuidOf('ann')]: ['ann', 'bob', 'bob-anon'] })
  })

  it('several in a row, with events of the moved ids in between', async () => {
    await run(
      set('a', { of: 'a', a: 1 }),
      set('b', { of: 'b', b: 1 }),
      set('c', { of: 'c', c: 1 }),
      identify('b', 'a'),
      set('a', { late: 1 }),
      alias('c', 'b', '$merge_dangerously'),
      set('a', { later: 1 }),
      identify('d', 'a'),
      seen('new'),
      identify('c', 'new'),
    )
    const person = await onlyPerson(app, project_id)
    expect(person).toMatchObject({
      uuid: uuidOf('c'),
      properties: { of: 'c', a: 1, b: 1, c: 1, late: 1, later: 1 },
      distinct_ids: ['c', 'b', 'a', 'd', 'new'],
    })
  })

  it('two persons that one event after the other brings together', async () => {
    // `link` is unknown when the events come in; the second merge follows from the first.
    await run(seen('a'), seen('b'))
    await run(identify('a', 'link'), alias('b', 'link', '$merge_dangerously'))
    expect(await mapping()).toEqual({ [uuidOf('b')]: ['b', 'a', 'link'] })
  })

  it('a moved id never makes a second person with the UUID of the first', async () => {
    await run(seen('a'), seen('b'), identify('b', 'a'), set('a', { x: 1 }), identify('a', 'z'))
    expect(await mapping()).toEqual({ [uuidOf('b')]: ['b', 'a', 'z'] })
  })

  it.each([
    ['$identify without the other id', () => seen('ann', {}, { event: '$identify' })],
    ['null', () => identify('ann', null)],
    ['the same id', () => identify('ann', 'ann')],
    ['`alias` of $identify', () => seen('ann', { alias: 'anon' }, { event: '$identify' })],
    [
      '`$anon_distinct_id` of an alias',
      () => seen('ann', { $anon_distinct_id: 'x' }, { event: '$create_alias' }),
    ],
    ['another event', () => seen('ann', { alias: 'x', $anon_distinct_id: 'y' })],
  ])('%s merges nothing and identifies nobody', async (_name, event) => {
    await run(event())
    expect(await onlyPerson(app, project_id)).toMatchObject({ is_identified: false, distinct_ids: ['ann'] })
  })

  it.each([
    [7, '7'],
    [{ a: 1 }, '{"a":1}'],
    ['ü'.repeat(250), 'ü'.repeat(200)],
    ['🪲'.repeat(250), '🪲'.repeat(200)],
    [' padded ', ' padded '],
  ])('the other id %j is the text %j', async (given, expected) => {
    await run(identify('ann', given))
    expect((await onlyPerson(app, project_id)).distinct_ids).toEqual(['ann', expected])
  })
})

describe('ids that nobody may mean', () => {
  const anyCase = 'anonymous guest distinctid distinct_id id not_authenticated email undefined true false'
  const refused = [
    ...anyCase.split(' ').flatMap((id) => [id, id.toUpperCase(), `"${id}"`, `'${id}'`]),
    '[object Object]',
    ...'NaN None none null 0 "null" \'0\' ""'.split(' '),
    '',
    ' ',
    '\t',
    "' '",
  ]
  it.each(refused)('%j merges on neither side', async (id) => {
    await apply(seen('ann'), identify('ann', id), ...(id === '' ? [] : [identify(id, 'ann')]))
    const persons = await personsOf(app, project_id)
    expect(persons.map((person) => person.distinct_ids.length)).toEqual(persons.map(() => 1))
    expect(persons.some((person) => person.is_identified)).toBe(false)
  })

  it.each(['nan', 'NONE', 'NULL', '00', 'anonymous1', '"anonymous\'', 'my email', '[object object]'])(
    '%j is an id like others',
    async (id) => {
      await apply(identify('ann', id))
      expect((await onlyPerson(app, project_id)).distinct_ids).toEqual(['ann', id])
    },
  )
})

describe('what an event is told of its person', () => {
  it('is how it stands after the event itself, whatever follows in the same flush', async () => {
    const events = [
      set('a', { n: 1 }),
      seen('a'),
      set('a', { n: 2 }),
      seen('b'),
      identify('b', 'a'),
      seen('b'),
    ]
    await flush(app.db, people, events)
    const told = events.map(({ person }) => [person!.id, JSON.parse(person!.properties).n])
    const [a, b] = [uuidOf('a'), uuidOf('b')]
    expect(told).toEqual([
      [a, 1],
      [a, 1],
      [a, 2],
      [b, undefined],
      [b, 2],
      [b, 2],
    ])
  })

  it('is nothing without a profile', async () => {
    const event = { ...seen('a'), has_person: false }
    await flush(app.db, people, [event])
    expect(event.person).toBeNull()
  })
})

describe('what the copies are told', () => {
  it('a merge: the survivor, the deleted one and every moved id, also of former flushes', async () => {
    await apply(seen('a1'), identify('a1', 'a2'), seen('b'))
    const cold = new People()
    const { copies } = await flush(app.db, cold, [alias('b', 'a2', '$merge_dangerously')])
    const { persons, deleted_persons, distinct_ids } = copies.get(project_id)!
    expect(persons.map((person) => person.id)).toEqual([uuidOf('b')])
    expect(deleted_persons).toEqual([uuidOf('a1')])
    expect(distinct_ids).toEqual([
      { distinct_id: 'a1', person_id: uuidOf('b'), version: 1 },
      { distinct_id: 'a2', person_id: uuidOf('b'), version: 1 },
    ])
  })

  it('a person made and merged away in one flush is not mentioned and leaves no row', async () => {
    await apply(seen('b'))
    const { copies } = await apply(seen('a'), identify('b', 'a'))
    expect(copies.get(project_id)).toMatchObject({ deleted_persons: [], persons: [{ id: uuidOf('b') }] })
    const rows = await app.db.rows(sql`SELECT FROM person WHERE project_id = ${project_id}`)
    expect(rows).toHaveLength(1)
  })

  it('remains of a merged person hold no properties', async () => {
    await apply(set('a', { secret: 1 }), seen('b'))
    await apply(identify('b', 'a'))
    const remains = await app.db.row(sql`
      SELECT properties, merged_into FROM person WHERE project_id = ${project_id} AND uuid = ${uuidOf('a')}`)
    expect(remains).toEqual({ properties: {}, merged_into: uuidOf('b') })
  })
})

describe('projects', () => {
  it('the same distinct id in two projects is two persons', async () => {
    const other = await newProject()
    const { copies } = await apply(
      set('ann', { a: 1 }),
      { ...set('ann', { a: 2 }), project_id: other },
      identify('ann', 'x'),
      { ...seen('x'), project_id: other },
    )
    expect(await onlyPerson(app, project_id)).toMatchObject({
      distinct_ids: ['ann', 'x'],
      properties: { a: 1 },
    })
    expect(await personsOf(app, other)).toHaveLength(2)
    expect(await personOf(app, other, 'ann')).toMatchObject({
      uuid: uuidOf('ann', other),
      properties: { a: 2 },
    })
    expect(new Set(copies.keys())).toEqual(new Set([project_id, other]))
    expect(copies.get(other)!.distinct_ids.map((id) => id.person_id)).not.toContain(uuidOf('ann'))
  })

  it('one that was deleted drops out; the others do not notice', async () => {
    const doomed = await newProject()
    await apply({ ...seen('ann'), project_id: doomed }, seen('ann'))
    await deleteProject(app.db, workspace.organization.id, doomed)
    const changes = await apply({ ...set('ann', { a: 1 }), project_id: doomed }, set('ann', { a: 1 }), {
      ...seen('ann', { $groups: { company: 'acme' } }),
      project_id: 2_000_000_000,
    })
    expect(changes.gone).toEqual(new Set([doomed, 2_000_000_000]))
    expect([...changes.copies.keys()]).toEqual([project_id])
    expect(await onlyPerson(app, project_id)).toMatchObject({ properties: { a: 1 } })
    const left = await app.db.rows(sql`
      SELECT FROM person WHERE project_id = ${doomed} UNION ALL
      SELECT FROM person_distinct_id WHERE project_id = ${doomed}`)
    expect(left).toHaveLength(0)
  })

  it('one cannot be deleted between look-up and write', async () => {
    let isDeleted = false
    let deletion: Promise<unknown> | undefined
    await people.flush(app.db, [seen('ann')], new Date(), async () => {
      deletion = deleteProject(app.db, workspace.organization.id, project_id).then(() => (isDeleted = true))
      await app.db.rows(sql`SELECT pg_sleep(0.05)`)
      expect(isDeleted).toBe(false)
    })
    await deletion
    expect(await personsOf(app, project_id)).toEqual([])
  })
})

describe('a transaction that does not commit', () => {
  const abandoned = new Error('given up')
  const giveUp = (events: PersonEvent[]) =>
    people.flush(app.db, events, new Date(), () => Promise.reject(abandoned))

  it('is forgotten', async () => {
    await apply(set('ann', { a: 1 }))
    await expect(giveUp([set('ann', { a: 2 }), identify('ann', 'anon'), seen('bob')])).rejects.toBe(abandoned)
    expect(await onlyPerson(app, project_id)).toMatchObject({ distinct_ids: ['ann'], properties: { a: 1 } })
    await apply(set('ann', { a: 2 }), seen('anon'), seen('bob'))
    expect(await personsOf(app, project_id)).toHaveLength(3)
    expect(await personOf(app, project_id, 'ann')).toMatchObject({
      properties: { a: 2 },
      is_identified: false,
    })
  })

  it('is forgotten before it is tried again', async () => {
    await apply(set('ann', { a: 1 }))
    let tries = 0
    const event = seen('ann', { $set: { a: 2 }, $groups: { company: 'acme' } })
    await people.flush(app.db, [event, seen('bob')], new Date(), async () => {
      if (tries++ > 0) return
      throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
    })
    expect(tries).toBe(2)
    expect(await personsOf(app, project_id)).toHaveLength(2)
    expect(await personOf(app, project_id, 'ann')).toMatchObject({ properties: { a: 2 } })
    expect(event.properties).toMatchObject({ $group_0: 'acme' })
  })

  it('group types of it are forgotten too', async () => {
    const named = (type: string) => seen('ann', { $groups: { [type]: 'x' } })
    await expect(giveUp([named('lost')])).rejects.toBe(abandoned)
    const event = named('kept')
    await apply(event)
    expect(event.properties).toMatchObject({ $group_0: 'x' })
    const types = await app.db.rows(sql`SELECT index, name FROM group_type WHERE project_id = ${project_id}`)
    expect(types).toEqual([{ index: 0, name: 'kept' }])
  })
})

describe('memory', () => {
  it.each([
    ['ids', { max_distinct_ids: 3 }],
    ['bytes', { max_bytes: 5000 }],
  ])('is bounded in %s, and what was let go is read again', async (_, limits) => {
    people = new People(limits)
    const ids = Array.from({ length: 20 }, (__, index) => `user-${index}`)
    for (const a of [1, 2]) {
      await apply(...ids.map((id) => set(id, { a, text: 'x'.repeat(300) })))
      await apply(...ids.map((id) => seen(id, { $set_once: { a: 9 } })))
    }
    await apply(identify('user-0', 'user-19'), identify('user-0', 'user-7'))
    const persons = await personsOf(app, project_id)
    expect(persons).toHaveLength(18)
    expect(persons.every((person) => person.properties.a === 2)).toBe(true)
    expect((await personOf(app, project_id, 'user-7'))!.distinct_ids).toEqual(['user-0', 'user-19', 'user-7'])
  })

  it('persons too large to be held at once are taken in turns', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `big-${index}`)
    await apply(...ids.map((id) => seen(id)))
    await pretendSize(900_000)
    const read: number[] = []
    const counting = watched((text, rows) => {
      if (text.includes('SELECT project_id, uuid, properties,')) read.push(rows)
    })
    const events = [...ids, ...ids].map((id, index) => set(id, { round: index }))
    await flush(counting, new People({ max_bytes: 10_000_000 }), events)
    expect(read.length).toBeGreaterThan(3)
    expect(Math.max(...read)).toBeLessThan(20)
    const persons = await personsOf(app, project_id)
    expect(new Set(persons.map((person) => person.properties.round))).toEqual(
      new Set(ids.map((_, index) => index + 40)),
    )
  })

  it('one turn may merge away whom an earlier one of the same flush has changed', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `big-${index}`)
    await apply(...ids.map((id) => seen(id)))
    await pretendSize(900_000)
    const { copies } = await flush(app.db, new People(), [
      ...ids.map((id) => set(id, { a: 1 })),
      identify('big-39', 'big-0'),
    ])
    const { persons, deleted_persons, distinct_ids } = copies.get(project_id)!
    expect(deleted_persons).toEqual([uuidOf('big-0')])
    expect(persons.map(({ id }) => id)).not.toContain(uuidOf('big-0'))
    expect(persons).toHaveLength(39)
    expect(distinct_ids).toEqual([{ distinct_id: 'big-0', person_id: uuidOf('big-39'), version: 1 }])
  })

  it('a person of more than 10,000 ids is not merged away, but takes others in', async () => {
    const crowd = Array.from({ length: 10_000 }, (_, index) => alias('crowd', `c${index}`))
    await apply(seen('crowd'), ...crowd)
    await apply(seen('ann'), alias('ann', 'crowd', '$merge_dangerously'))
    expect((await personOf(app, project_id, 'ann'))!.distinct_ids).toEqual(['ann'])
    await apply(alias('crowd', 'ann', '$merge_dangerously'))
    const person = await onlyPerson(app, project_id)
    expect(person.distinct_ids).toHaveLength(10_002)
    expect(person.distinct_ids.at(-1)).toBe('ann')
  })
})

describe('changedSince', () => {
  it('gives everything in pages, from any position', async () => {
    const mirror = new Mirror(project_id)
    const { range: start } = await apply({ ...seen('elsewhere'), project_id: await newProject() })
    await apply(set('a', { n: 1 }), set('b', { n: 1 }), identify('c', 'c-anon'))
    const first = await flush(app.db, people, [
      alias('b', 'a'),
      seen(
        'd',
        { $group_type: 'company', $group_key: 'acme', $group_set: { x: 1 } },
        { event: '$groupidentify' },
      ),
    ])
    await apply(set('b', { n: 2 }), seen('e'))
    let position = start!.last
    for (let isComplete = false; !isComplete;) {
      const page = await changedSince(app.db, position, 3)
      mirror.take(page.copies)
      expect(page.is_complete || page.position > position).toBe(true)
      position = page.position
      isComplete = page.is_complete
    }
    const persons = await personsOf(app, project_id)
    expect(mirror.contents).toEqual(mirrored(persons))
    expect(mirror.groups).toEqual(new Map([['0 acme', { x: 1 }]]))

    const rest = await changedSince(app.db, first.range!.last, 1000)
    expect(rest.is_complete).toBe(true)
    expect(
      rest.copies
        .get(project_id)!
        .persons.map(({ id }) => id)
        .sort(),
    ).toEqual([uuidOf('b'), uuidOf('e')].sort())
    expect(rest.copies.get(project_id)!.distinct_ids.map(({ distinct_id }) => distinct_id)).toEqual(['e'])

    expect(await changedSince(app.db, position, 3)).toEqual({
      copies: new Map(),
      position,
      is_complete: true,
    })
  })

  it('tells of the deleted', async () => {
    const { range } = await apply(seen('a'), seen('b'))
    await apply(identify('b', 'a'))
    const { copies } = await changedSince(app.db, range!.last, 100)
    expect(copies.get(project_id)).toMatchObject({
      deleted_persons: [uuidOf('a')],
      persons: [{ id: uuidOf('b') }],
      distinct_ids: [{ distinct_id: 'a', person_id: uuidOf('b') }],
    })
  })

  it('cuts a page that would be too large', async () => {
    const { range } = await apply(seen('first'))
    await apply(...Array.from({ length: 40 }, (_, index) => seen(`big-${index}`)))
    await pretendSize(1_000_000)
    const page = await changedSince(app.db, range!.last, 1000)
    expect(page.is_complete).toBe(false)
    expect(page.copies.get(project_id)!.persons.length).toBeLessThan(40)
    const rest = await changedSince(app.db, page.position, 1000)
    expect(rest.is_complete).toBe(true)
    const ids = [...page.copies.get(project_id)!.persons, ...rest.copies.get(project_id)!.persons]
    expect(new Set(ids.map(({ id }) => id)).size).toBe(40)
  })
})

describe('what an event tells of its person unasked', () => {
  it.each([
    ['utm_source', '$initial_utm_source'],
    ['utm_campaign', '$initial_utm_campaign'],
    ['gclid', '$initial_gclid'],
    ['$referrer', '$initial_referrer'],
    ['$referring_domain', '$initial_referring_domain'],
    ['$browser', '$initial_browser'],
    ['$browser_version', '$initial_browser_version'],
    ['$os', '$initial_os'],
    ['$current_url', '$initial_current_url'],
    ['$pathname', '$initial_pathname'],
    ['$device_type', '$initial_device_type'],
    ['$app_version', '$initial_app_version'],
    ['$app_name', '$initial_app_name'],
  ])('%s is kept first as %s and latest under its name', async (name, initial) => {
    await apply(seen('ada', { [name]: 'first', other: 1 }), seen('ada', { [name]: 'second' }))
    const { properties } = await onlyPerson(app, project_id)
    expect(properties).toMatchObject({ [name]: 'second', [initial]: 'first' })
    expect(properties).not.toHaveProperty('other')
  })

  it('gives way to what the event itself sets', async () => {
    const $set = { $browser: 'mine', a: 1 }
    await apply(seen('ada', { $browser: 'Chrome', $set, $set_once: { $initial_browser: 'mine' } }))
    await apply(seen('ada', { $browser: 'Chrome', $set }))
    const { properties } = await onlyPerson(app, project_id)
    expect(properties).toMatchObject({ $browser: 'mine', $initial_browser: 'mine', a: 1 })
  })

  it('is not wiped out by null, nor spoilt by a $set that is no object', async () => {
    await apply(seen('ada', { $os: 'Linux', $set: 'odd', $set_once: [1] }), seen('ada', { $os: null }))
    const { properties } = await onlyPerson(app, project_id)
    expect(properties).toMatchObject({ $os: 'Linux', $initial_os: 'Linux' })
  })
})
