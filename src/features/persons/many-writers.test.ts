// Several processes apply events to the same persons at the same time. What comes of it is what one process makes of the same
// flushes in the order of their heads: nothing is lost, nobody waits for ever, and copies in any order come to the same.
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { IS_LONG } from '../../../test/harness/long.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql, type Statement } from '../../platform/db/sql.ts'
import { insertProject } from '../projects/queries.ts'
import { flush, groupsOf, groupTypesOf, NOON, personEvent, personsOf, versionsOf } from './fixture/people.ts'
import { People } from './people.ts'
import type { PersonEvent } from './person-event.ts'
import { personUuid } from './rules.ts'

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
})
afterAll(() => app.close())

async function newProject(): Promise<number> {
  return (await insertProject(app.db, workspace.organization.id, {}, app.services.now())).id
}

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

type Step = Pick<PersonEvent, 'event' | 'distinct_id' | 'properties'> & { project: number }

// Few ids, so that writers meet all the time.
const id = fc.constantFrom(...IDS)
const project = fc.integer({ min: 0, max: 2 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    project,
    event: fc.constant('seen'),
    distinct_id: id,
    properties: fc.record({
      $groups: fc.dictionary(fc.constantFrom('t', 'u', 'v', 'w', 'x', 'y', 'z'), id, { maxKeys: 1 }),
    }),
  }),
  fc
    .tuple(project, fc.constantFrom('$identify', '$create_alias', '$merge_dangerously'), id, id)
    .map(([number, event, distinct_id, other]) => ({
      project: number,
      event,
      distinct_id,
      properties: { [event === '$identify' ? '$anon_distinct_id' : 'alias']: other },
    })),
  fc
    .tuple(project, id, fc.constantFrom('t', 'u'), id)
    .map(([number, distinct_id, $group_type, $group_key]) => ({
      project: number,
      event: '$groupidentify',
      distinct_id,
      properties: { $group_type, $group_key },
    })),
)

/** With the heads that it took, by project. */
type Flushed = {
  steps: readonly (Step & { uuid: string })[]
  events: PersonEvent[]
  heads: ReadonlyMap<number, bigint>
}

const eventsFor = (projects: readonly number[], steps: Flushed['steps']) =>
  steps.map(({ project: number, ...fields }) =>
    personEvent({ ...structuredClone(fields), project_id: projects[number]!, timestamp: NOON }),
  )

/** Each step sets a property of its own, which nothing may ever take away. */
function stepsOf(seed: number, count: number, writer: number): Flushed['steps'] {
  return fc.sample(step, { seed, numRuns: count }).map((each, index) => {
    const name = `w${writer}_${index}`
    const set = each.event === '$groupidentify' ? '$group_set' : '$set'
    const uuid = `00000000-0000-7000-8000-${String(writer).padStart(4, '0')}${String(index).padStart(8, '0')}`
    // Some change nothing once the person is there.
    const properties = index % 4 === 3 ? each.properties : { ...each.properties, [set]: { [name]: index } }
    return { ...each, uuid, properties }
  })
}

async function takenBy(tx: Db): Promise<Map<number, bigint>> {
  const rows = await tx.rows<{ project_id: number; change: string }>(
    sql`SELECT project_id, change FROM people_head WHERE xmin = pg_current_xact_id()::xid`,
  )
  return new Map(rows.map(({ project_id, change }) => [project_id, BigInt(change)]))
}

async function write(
  people: People,
  projects: readonly number[],
  steps: Flushed['steps'],
): Promise<Flushed[]> {
  const flushed: Flushed[] = []
  for (let from = 0, size = 1; from < steps.length; from += size, size = 1 + ((size * 7) % 5)) {
    const part = steps.slice(from, from + size)
    const events = eventsFor(projects, part)
    let heads = new Map<number, bigint>()
    await people.flush(app.db, events, app.services.now(), async (tx) => void (heads = await takenBy(tx)))
    flushed.push({ steps: part, events, heads })
  }
  return flushed
}

/** UUIDs follow from the project's id, so persons are named by the distinct id that theirs was made from. */
async function contents(project_id: number) {
  const names = new Map(IDS.map((each) => [personUuid(project_id, each), each]))
  const persons = await personsOf(app, project_id)
  const named = persons.map(({ uuid, ...rest }) => ({ made_for: names.get(uuid)!, ...rest }))
  const versions = [...(await versionsOf(app, project_id))].map(
    ([key, version]) => `${names.get(key) ?? `id ${key}`} ${version}`,
  )
  return {
    persons: named.sort((one, other) => (one.made_for < other.made_for ? -1 : 1)),
    versions: versions.sort(),
    types: await groupTypesOf(app, project_id),
    groups: await groupsOf(app, project_id),
  }
}

/** What one writer makes of the flushes, those of a project in the order of its heads. */
async function replay(flushed: readonly Flushed[], projects: readonly number[]): Promise<number[]> {
  const again: number[] = []
  for (const [number, project_id] of projects.entries()) {
    const taken = flushed.flatMap(({ steps, events, heads }) => {
      const head = heads.get(project_id)
      return head === undefined ? [] : [{ head, steps, events }]
    })
    const into = await newProject()
    const people = new People()
    for (const { steps, events } of taken.sort((one, other) => (one.head < other.head ? -1 : 1))) {
      const own = steps
        .map((each, index) => ({ each, before: events[index]! }))
        .filter(({ each }) => each.project === number)
      const repeated = eventsFor(
        Array.from({ length: 3 }, () => into),
        own.map(({ each }) => each),
      )
      await flush(app.db, people, repeated)
      for (const [index, { properties, person }] of repeated.entries()) {
        const { before } = own[index]!
        expect(before.properties).toEqual(properties)
        expect(JSON.parse(before.person!.properties)).toEqual(JSON.parse(person!.properties))
      }
    }
    again.push(into)
  }
  return again
}

const deadlocks = async () =>
  (
    await app.db.only<{ count: number }>(
      sql`SELECT deadlocks::int AS count FROM pg_stat_database WHERE datname = current_database()`,
    )
  ).count

/** Does something once, when a statement is asked for the first time. */
function interrupted(
  when: 'before' | 'after',
  text: string,
  work: () => Promise<unknown>,
): Db & { asked: number } {
  const db: Db & { asked: number } = {
    ...app.db,
    asked: 0,
    transaction: (inner) =>
      app.db.transaction((tx) =>
        inner({
          ...tx,
          rows: async <Row>(statement: Statement) => {
            const isFirst = statement.text.includes(text) && db.asked++ === 0
            if (isFirst && when === 'before') await work()
            const rows = await tx.rows<Row>(statement)
            if (isFirst && when === 'after') await work()
            return rows
          },
        }),
      ),
  }
  return db
}

describe('two writers in turn', () => {
  let project_id: number
  let one: People
  let other: People
  beforeEach(async () => {
    project_id = await newProject()
    one = new People()
    other = new People()
  })
  const seen = (distinct_id: string, properties = {}, event = 'seen', project = project_id) =>
    personEvent({ project_id: project, distinct_id, properties, event })
  const group = ($group_type: string, $group_set: object) =>
    seen('ann', { $group_type, $group_key: 'acme', $group_set }, '$groupidentify')

  it('neither goes by what the other has changed', async () => {
    await flush(app.db, one, [seen('ann', { $set: { a: 1 } }), seen('bob'), group('t', { a: 1 })])
    await flush(app.db, other, [
      seen('ann', { $set: { b: 2 } }),
      seen('ann', { $anon_distinct_id: 'bob' }, '$identify'),
      group('t', { b: 2 }),
      group('u', {}),
    ])
    const told = seen('bob', { $groups: { u: 'x' } })
    await flush(app.db, one, [told, seen('bob', { $set: { c: 3 } }), group('t', { c: 3 })])
    const [person, ...others] = await personsOf(app, project_id)
    expect(others).toEqual([])
    expect(person).toMatchObject({ distinct_ids: ['ann', 'bob'], properties: { a: 1, b: 2, c: 3 } })
    expect(told.person!.id).toBe(person!.uuid)
    expect(JSON.parse(told.person!.properties)).toMatchObject({ a: 1, b: 2 })
    expect(told.properties).toMatchObject({ $group_1: 'x' })
    expect(await groupTypesOf(app, project_id)).toEqual(['t', 'u'])
    expect(await groupsOf(app, project_id)).toMatchObject([
      { properties: { a: 1, b: 2, c: 3 } },
      { index: 1 },
    ])
  })

  it('what was changed long ago is forgotten with all of the project', async () => {
    await flush(app.db, one, [seen('ann', { $set: { a: 1 } }), group('t', { a: 1 })])
    await flush(app.db, other, [seen('ann', { $set: { b: 2 } }), group('t', { b: 2 })])
    await app.db.row(sql`SELECT setval('people_change', (SELECT last_value + 20000 FROM people_change))`)
    await flush(app.db, one, [seen('ann', { $set: { c: 3 } }), group('t', { c: 3 })])
    expect(await personsOf(app, project_id)).toMatchObject([{ properties: { a: 1, b: 2, c: 3 } }])
    expect(await groupsOf(app, project_id)).toMatchObject([{ properties: { a: 1, b: 2, c: 3 } }])
  })

  it('a person that is merged away between two reads is looked for again', async () => {
    await flush(app.db, other, [seen('ann', { $set: { a: 1 } }), seen('bob')])
    const db = interrupted('after', 'JOIN person_distinct_id USING (project_id, distinct_id)', () =>
      flush(app.db, other, [seen('ann', { $anon_distinct_id: 'bob' }, '$identify')]),
    )
    const event = seen('bob')
    await flush(db, one, [event])
    expect(db.asked).toBe(2)
    expect(event.person!.id).toBe(personUuid(project_id, 'ann'))
    expect(JSON.parse(event.person!.properties)).toMatchObject({ a: 1 })
  })

  it('an id that leads elsewhere by the time its person is merged leads there', async () => {
    await flush(app.db, one, [
      seen('ann'),
      seen('carl'),
      seen('carl', { $anon_distinct_id: 'bob' }, '$identify'),
    ])
    const db = interrupted('before', 'JOIN person_distinct_id USING (project_id, person)', () =>
      flush(app.db, other, [seen('ann', { alias: 'carl', $set: { a: 1 } }, '$merge_dangerously')]),
    )
    const merge = seen('dora', { alias: 'carl' }, '$merge_dangerously')
    const event = seen('bob', { $set: { b: 2 } })
    await flush(app.db, one, [seen('dora')])
    await flush(db, one, [merge, event])
    expect(db.asked).toBe(2)
    const [person, ...others] = await personsOf(app, project_id)
    expect(others).toEqual([])
    expect(person).toMatchObject({ properties: { a: 1, b: 2 } })
    expect(person!.distinct_ids.toSorted()).toEqual(['ann', 'bob', 'carl', 'dora'])
    expect(event.person!.id).toBe(person!.uuid)
  })

  it('heads are taken of projects that are changed, and of all where more may follow', async () => {
    const second = await newProject()
    const known = [seen('ann'), seen('ann', {}, 'seen', second)]
    await flush(app.db, one, known)
    const taken = async (...events: PersonEvent[]) => {
      let heads = new Map<number, bigint>()
      const { copies, range } = await one.flush(app.db, events, app.services.now(), async (tx) => {
        heads = await takenBy(tx)
      })
      for (const [id, { head }] of copies) expect([head, head < range!.last]).toEqual([heads.get(id), true])
      return [...heads.keys()].sort((a, b) => a - b)
    }
    expect(await taken(...known)).toEqual([])
    expect(await taken(known[0]!, seen('ann', { $set: { a: 1 } }, 'seen', second))).toEqual([second])
    expect(await taken(seen('ann', { $set: { a: 1 } }), seen('bob', {}, 'seen', second))).toEqual([
      project_id,
      second,
    ])
    expect(await taken(group('t', { a: 1 }), known[1]!)).toEqual([project_id, second])
  })
})

describe('writers at the same time', () => {
  it.each([
    [2, IS_LONG ? 2_000 : 80],
    [8, IS_LONG ? 1_000 : 25],
  ])('%i of them', async (writers, steps) => {
    const projects = [await newProject(), await newProject(), await newProject()]
    const seed = Math.floor(Math.random() * 2 ** 31)
    const flushed = (
      await Promise.all(
        Array.from({ length: writers }, (_, writer) =>
          // Some have little memory, so that they read often.
          write(
            new People(writer % 3 === 1 ? { max_distinct_ids: 2 } : {}),
            projects,
            stepsOf(seed + writer, steps, writer),
          ),
        ),
      )
    ).flat()
    const again = await replay(flushed, projects)
    for (const [number, project_id] of projects.entries()) {
      const found = await contents(project_id)
      expect(found, `seed ${seed}`).toEqual(await contents(again[number]!))
      for (const { steps: own } of flushed) {
        for (const { project: of, distinct_id, event, properties } of own) {
          if (of !== number) continue
          // Each id leads to one living person, and no property that was set is lost.
          const [owner, ...others] = found.persons.filter((person) =>
            person.distinct_ids.includes(distinct_id),
          )
          expect(others).toEqual([])
          const { $group_type, $group_key, $group_set, $set = {} } = properties
          expect(owner!.properties).toMatchObject($set as object)
          if (event !== '$groupidentify') continue
          const index = found.types.indexOf(String($group_type))
          const group = found.groups.find((each) => each.index === index && each.key === $group_key)
          if (index >= 0) expect(group!.properties).toMatchObject(($group_set ?? {}) as object)
        }
      }
    }
    expect(await deadlocks()).toBe(0)
  })
})
