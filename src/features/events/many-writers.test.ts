// Several processes store events in one ClickHouse at the same time, and some of them die between the commit of the persons and
// that of the events, or send their copies late: in the end the copies are what the relational store has.
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { IS_LONG } from '../../../test/harness/long.ts'
import { uuid7 } from '../../lib/uuid.ts'
import { sql, type Statement } from '../../platform/db/sql.ts'
import type { Insertion } from '../../platform/event-store/clickhouse/client.ts'
import { MemoryClickHouse } from '../../platform/event-store/clickhouse/fixture/memory.ts'
import { timeText } from '../../platform/event-store/clickhouse/rows.ts'
import { storeOf } from '../../platform/event-store/clickhouse/store.ts'
import type { EventStore } from '../../platform/event-store/event-store.ts'
import { findProjectById, insertProject } from '../projects/queries.ts'
import type { ProjectRow } from '../projects/schema.ts'
import { Ingest } from './ingest.ts'
import type { PipelineEvent } from './pipeline-event.ts'

let app: TestApp
let workspace: Workspace
let clickhouse: MemoryClickHouse
let projects: ProjectRow[]
const open: { close(): Promise<void> }[] = []
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
})
afterAll(async () => {
  for (const each of open) await each.close()
  await app.close()
})
beforeEach(async () => {
  clickhouse = new MemoryClickHouse()
  projects = []
  while (projects.length < 3)
    projects.push(await insertProject(app.db, workspace.organization.id, {}, app.services.now()))
})

/** A process: its connection to ClickHouse, and the store that stands on it. */
function startWriter(
  meets?: (insertion: Insertion) => Promise<void>,
  changed: (store: EventStore) => Partial<EventStore> = () => ({}),
) {
  const limits = { timeout_ms: 60_000, memory_mb: 100 }
  const store = storeOf({
    clickhouse: clickhouse.connect(meets),
    db: app.db,
    staging: tmpdir(),
    limits,
    onClosed: async () => {},
  })
  const ingest = new Ingest({ ...app.services, eventStore: { ...store, ...changed(store) } })
  open.push(ingest, store)
  return { store, ingest }
}

const killed = () => Promise.reject(new Error('killed'))

/** A process that ends once its persons are committed, before it can tell anybody. */
const startKilled = () => startWriter(undefined, () => ({ write: killed, giveUpCopies: killed }))

function event(fields: Partial<PipelineEvent> = {}): PipelineEvent {
  const now = app.services.now()
  const micros = BigInt(now.getTime()) * 1000n
  return {
    uuid: uuid7(now),
    event: 'seen',
    distinct_id: 'ada',
    properties: {},
    timestamp: micros,
    created_at: micros,
    ...fields,
  }
}

const owed = async () =>
  (await app.db.only<{ count: number }>(sql`SELECT count(*)::int AS count FROM owed_copies`)).count
const expire = () => app.db.run(sql`UPDATE owed_copies SET leased_until = now() - interval '1 second'`)

type Copy = { key: string; value: unknown }
const inOrder = (copies: Copy[]) => copies.sort((one, other) => (one.key < other.key ? -1 : 1))
const timeOf = (micros: unknown) => timeText(BigInt(String(micros)))
const objectOf = (json: unknown): unknown => JSON.parse(String(json))

/** What ClickHouse has of a project's persons, ids and groups, beside what it must have. */
async function compare(project_id: number): Promise<void> {
  const held = (table: string) => clickhouse.rowsOf(table, project_id)
  const expected = async (statement: Statement) => inOrder(await app.db.rows<Copy>(statement))
  const persons = held('persons').filter(({ is_deleted }) => is_deleted === 0)
  expect(
    inOrder(
      persons.map(({ id, version, properties, is_identified, created_at }) => ({
        key: String(id),
        value: [version, objectOf(properties), is_identified, created_at],
      })),
    ),
  ).toEqual(
    (
      await expected(sql`
        SELECT uuid::text AS key, json_build_array(version, properties, is_identified,
          (extract(epoch FROM created_at) * 1000000)::bigint) AS value
        FROM person WHERE project_id = ${project_id} AND merged_into IS NULL`)
    ).map(({ key, value }) => ({
      key,
      value: (value as unknown[]).with(3, timeOf((value as unknown[])[3])),
    })),
  )
  const ids = held('person_distinct_ids').map(({ distinct_id, person_id, version }) => ({
    key: String(distinct_id),
    value: [person_id, version],
  }))
  expect(inOrder(ids)).toEqual(
    await expected(sql`
      SELECT distinct_id AS key, json_build_array(person, version) AS value
      FROM person_distinct_id WHERE project_id = ${project_id}`),
  )
  const groups = held('groups').map(({ index, key, properties }) => ({
    key: `${String(index)} ${String(key)}`,
    value: objectOf(properties),
  }))
  expect(inOrder(groups)).toEqual(
    await expected(sql`
      SELECT index || ' ' || key AS key, properties AS value FROM group_of_project WHERE project_id = ${project_id}`),
  )
}

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
const oneOf = <Item>(items: readonly Item[]) => items[Math.floor(Math.random() * items.length)]!

function anyEvent(name: string): PipelineEvent {
  const distinct_id = oneOf(IDS)
  const $set = { [name]: 1 }
  return oneOf([
    () => event({ distinct_id, properties: { $set } }),
    () => event({ event: '$identify', distinct_id, properties: { $anon_distinct_id: oneOf(IDS), $set } }),
    () => event({ event: '$merge_dangerously', distinct_id, properties: { alias: oneOf(IDS), $set } }),
    () =>
      event({
        event: '$groupidentify',
        distinct_id,
        properties: { $group_type: oneOf(['t', 'u']), $group_key: oneOf(IDS), $group_set: $set },
      }),
  ])()
}

it.each([
  [2, IS_LONG ? 1_000 : 30],
  [8, IS_LONG ? 500 : 12],
])(
  '%i writers, of which some die: copies come to what the tables have',
  async (writers, requests) => {
    const late: Insertion[] = []
    const accepted: string[] = []
    const work = async (writer: number) => {
      const chances = { dies: writer % 2 === 0 ? 0.1 : 0, is_late: writer % 3 === 0 ? 0.2 : 0 }
      let running = startLife()
      function startLife() {
        const meets = async (insertion: Insertion) => {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
          if (Math.random() >= chances.is_late) return
          // The rows are on their way while the writer is told that it has failed.
          late.push(insertion)
          throw new Error('no answer')
        }
        return startWriter(meets, (store) => ({
          write: (...args) => (Math.random() < chances.dies ? killed() : store.write(...args)),
          giveUpCopies: (...args) => (chances.dies > 0 ? killed() : store.giveUpCopies(...args)),
        })).ingest
      }
      for (let request = 0; request < requests; request++) {
        const project = oneOf(projects)
        const events = [anyEvent(`w${writer}_${request}`), anyEvent(`v${writer}_${request}`)]
        try {
          await running.accept(project, events, 100)
          accepted.push(...events.map(({ uuid }) => uuid))
        } catch (error) {
          expect(String(error)).toMatch(/killed|does not answer/)
          // Whoever is killed begins again with nothing in memory.
          if (String(error).includes('killed')) running = startLife()
        }
      }
    }
    await Promise.all(Array.from({ length: writers }, (_, writer) => work(writer)))
    await expire()
    await startWriter().ingest.catchUp()
    expect(await owed()).toBe(0)
    for (const insertion of late.toReversed()) clickhouse.insert(insertion)
    for (const { id } of projects) await compare(id)
    const stored = new Set(
      projects.flatMap(({ id }) => clickhouse.rowsOf('events', id).map(({ uuid }) => uuid)),
    )
    expect(accepted.filter((uuid) => !stored.has(uuid))).toEqual([])
  },
  120_000,
)

it('whoever finds copies past their lease makes them; those in time are left alone', async () => {
  const [project] = projects as [ProjectRow]
  const { ingest } = startKilled()
  await expect(ingest.accept(project, [event({ properties: { $set: { n: 1 } } })], 10)).rejects.toThrow(
    'killed',
  )
  const other = startWriter()
  await other.ingest.catchUp()
  expect([await owed(), clickhouse.rowsOf('persons', project.id)]).toEqual([1, []])
  await expire()
  // Two look at the same time: one of them has it to do.
  const looks = await Promise.all([other.store.missingCopies(), other.store.missingCopies()])
  expect(looks.filter((found) => found !== null)).toHaveLength(1)
  await expire()
  await other.ingest.catchUp()
  expect(await owed()).toBe(0)
  await compare(project.id)
})

it('a writer that was told of a failure makes its copies before its next events', async () => {
  const [project] = projects as [ProjectRow]
  let fails = true
  const { ingest } = startWriter(async () => {
    if (fails) throw new Error('no ClickHouse')
  })
  const lost = event({ properties: { $set: { n: 1 } } })
  await expect(ingest.accept(project, [lost], 10)).rejects.toThrow('ClickHouse does not answer')
  expect(clickhouse.rowsOf('persons', project.id)).toEqual([])
  fails = false
  await ingest.accept(project, [lost], 10)
  expect(clickhouse.rowsOf('events', project.id)).toHaveLength(1)
  expect(await owed()).toBe(0)
  await compare(project.id)
})

it('so are those of a batch that failed because earlier copies could not be made', async () => {
  const [project] = projects as [ProjectRow]
  let fails = true
  const persons_at_events: number[] = []
  const { ingest } = startWriter(async ({ table }) => {
    if (fails) throw new Error('no ClickHouse')
    if (table === 'events') persons_at_events.push(clickhouse.rowsOf('persons', project.id).length)
  })
  for (const distinct_id of ['ada', 'bob'])
    await expect(ingest.accept(project, [event({ distinct_id })], 10)).rejects.toThrow('does not answer')
  fails = false
  await ingest.accept(project, [event({ distinct_id: 'bob' })], 10)
  expect(persons_at_events).toEqual([2])
  expect(await owed()).toBe(0)
  await compare(project.id)
})

it('many copies are made in pages, and owed until they are there', async () => {
  const [project] = projects as [ProjectRow]
  const { ingest } = startKilled()
  const events = Array.from({ length: 40 }, (_, index) => event({ distinct_id: `user ${index}` }))
  await expect(ingest.accept(project, events, 100)).rejects.toThrow('killed')
  // What rows say of their own size is what counts.
  await app.db.run(sql`UPDATE person SET properties_size = 1000000 WHERE project_id = ${project.id}`)
  let insertions = 0
  const failing = startWriter(async () => {
    if (++insertions > 1) throw new Error('no ClickHouse')
  })
  await expire()
  await expect(failing.ingest.catchUp()).rejects.toThrow('ClickHouse does not answer')
  expect(clickhouse.rowsOf('persons', project.id).length).toBeLessThan(40)
  expect(await owed()).toBe(1)
  // Whoever goes on begins where that one has failed, and need not wait.
  insertions = 0
  await startWriter(async () => void insertions++).ingest.catchUp()
  expect(insertions).toBe(2)
  expect(clickhouse.rowsOf('persons', project.id)).toHaveLength(40)
  expect(await owed()).toBe(0)
  await compare(project.id)
})

it('writers look for missing copies now and then', async () => {
  const [project] = projects as [ProjectRow]
  const { ingest } = startKilled()
  await expect(ingest.accept(project, [event()], 10)).rejects.toThrow('killed')
  await expire()
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    startWriter()
    vi.advanceTimersByTime(10_000)
    await expect.poll(owed).toBe(0)
  } finally {
    vi.useRealTimers()
  }
  await compare(project.id)
})

it('copies of a project that is gone are owed no longer', async () => {
  const [project] = projects as [ProjectRow]
  const { ingest } = startKilled()
  await expect(ingest.accept(project, [event()], 10)).rejects.toThrow('killed')
  await app.db.run(sql`DELETE FROM project WHERE id = ${project.id}`)
  await expire()
  await startWriter().ingest.catchUp()
  expect(await owed()).toBe(0)
})

it('two writers see a project for the first time at once', async () => {
  const both = [startWriter().ingest, startWriter().ingest]
  await Promise.all(
    projects.flatMap((project) => both.map((ingest) => ingest.accept(project, [event()], 10))),
  )
  for (const { id } of projects) {
    expect((await findProjectById(app.db, id))!.ingested_event).toBe(true)
    expect(clickhouse.rowsOf('events', id)).toHaveLength(2)
    await compare(id)
  }
})

it('copies are of the state of their own project, whatever else is in the batch', async () => {
  const { ingest } = startWriter()
  await Promise.all(projects.map((project) => ingest.accept(project, [event()], 10)))
  for (const { id } of projects) {
    const { change } = await app.db.only<{ change: string }>(
      sql`SELECT change FROM people_head WHERE project_id = ${id}`,
    )
    expect(clickhouse.rowsOf('persons', id)).toMatchObject([{ change }])
  }
})
