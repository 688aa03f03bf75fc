// Random histories: however the events are cut into flushes, and whatever is remembered between them, the same persons
// come of them, and copies that follow along hold what the tables hold.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { insertProject } from '../projects/queries.ts'
import { flush, Mirror, mirrored, NOON, personEvent, personsOf, versionsOf } from './fixture/people.ts'
import { changedSince } from './changed-since.ts'
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

type Step = Pick<PersonEvent, 'event' | 'distinct_id' | 'properties'>

// Few ids and keys, so that histories cross each other often.
const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
const id = fc.constantFrom(...IDS)
const values = fc.dictionary(fc.constantFrom('k', 'l', 'm'), fc.constantFrom(0, 1, 'x', null, [1]), {
  maxKeys: 2,
})
const update = fc.record(
  { $set: values, $set_once: values, $unset: fc.subarray(['k', 'l', 'm']) },
  { requiredKeys: [] },
)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ event: fc.constant('seen'), distinct_id: id, properties: update }),
  fc
    .tuple(fc.constantFrom('$identify', '$create_alias', '$merge_dangerously'), id, id, update)
    .map(([event, distinct_id, other, properties]) => ({
      event,
      distinct_id,
      properties: { ...properties, [event === '$identify' ? '$anon_distinct_id' : 'alias']: other },
    })),
)
const history = fc.array(step, { minLength: 1, maxLength: 30 })

/** Times run up and down; event ids do not depend on the project. */
function eventsFor(project_id: number, steps: readonly Step[]): PersonEvent[] {
  return steps.map((each, index) =>
    personEvent({
      ...structuredClone(each),
      project_id,
      uuid: `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
      timestamp: NOON + BigInt((index * 7) % 11),
    }),
  )
}

/** UUIDs follow from the project's id, so persons are named by the distinct id that theirs was made from. */
async function persons(project_id: number) {
  const names = new Map(IDS.map((each) => [personUuid(project_id, each), each]))
  const rows = await personsOf(app, project_id)
  const named = rows.map(({ uuid, ...rest }) => ({ made_for: names.get(uuid), ...rest }))
  return named.sort((a, b) => (a.made_for! < b.made_for! ? -1 : 1))
}

function batchesOf<Item>(items: readonly Item[], sizes: readonly number[]): Item[][] {
  const batches: Item[][] = []
  for (let from = 0, turn = 0; from < items.length; turn++) {
    const size = sizes[turn % sizes.length]!
    batches.push(items.slice(from, from + size))
    from += size
  }
  return batches
}

async function run(steps: readonly Step[], sizes: readonly number[], people: () => People) {
  const project_id = await newProject()
  const mirror = new Mirror(project_id)
  const { start } = await app.db.only<{ start: string }>(sql`SELECT last_value AS start FROM people_change`)
  for (const batch of batchesOf(eventsFor(project_id, steps), sizes)) {
    const { copies } = await flush(app.db, people(), batch)
    mirror.take(copies)
  }
  const rows = await personsOf(app, project_id)
  expect(mirror.contents).toEqual(mirrored(rows))
  const versions = await versionsOf(app, project_id)
  expect(mirror.versions).toEqual(versions)
  // A copy that missed everything and catches up. The very first number is not used up until it is given.
  const late = new Mirror(project_id)
  late.take((await changedSince(app.db, BigInt(start) - 1n, 10_000)).copies)
  expect(late.contents).toEqual(mirrored(rows))
  expect(late.versions).toEqual(versions)
  return persons(project_id)
}

it('come to the same in any batches, with any memory', async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 }),
      async (steps, sizes) => {
        const warm = new People()
        const forgetful = new People({ max_distinct_ids: 2 })
        const oneByOne = await run(steps, [1], () => warm)
        expect(await run(steps, sizes, () => warm)).toEqual(oneByOne)
        expect(await run(steps, [1000], () => new People())).toEqual(oneByOne)
        expect(await run(steps, sizes, () => forgetful)).toEqual(oneByOne)
        expect(await run(steps, sizes, () => new People())).toEqual(oneByOne)
        // Every id that was ever named leads to exactly one person.
        const named = oneByOne.flatMap((person) => person.distinct_ids)
        expect(new Set(named).size).toBe(named.length)
        expect(steps.every(({ distinct_id }) => named.includes(distinct_id))).toBe(true)
      },
    ),
    { numRuns: 25 },
  )
}, 120_000)
