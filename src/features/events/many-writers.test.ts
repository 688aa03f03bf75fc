// Several processes store events in one ClickHouse at the same time, and some of them die between the commit of the persons and
// that of the events, or send their copies late: in the end the copies are what the relational store has.
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { IS_LONG } from '../../../test/harness/long.ts'
import { uuid7 } from '../../lib/uuid.ts'
import { sql } from '../../platform/db/sql.ts'
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
const micros = (column: string) => `(extract(epoch FROM ${column}) * 1000000)::bigint`

/** What ClickHouse has of a project's persons, ids and groups, and what it must have. */
async function compare(project_id: number): Promise<void> {
  const rows = async (text: string) => await app.db.rows<Record<string, any>>({ text, values: [project_id] })
  const persons = await rows(`SELECT uuid, version, properties, is_identified, ${micros('created_at')} AS made
    FROM person WHERE project_id = $1 AND merged_into IS NULL`)
  const ids = await rows('SELECT distinct_id, person, version FROM person_distinct_id WHERE project_id = $1')
  const groups = await rows('SELECT index, key, properties FROM group_of_project WHERE project_id = $1')
  const held = (table: string) => clickhouse.rowsOf(table, project_id)
  expect(
    inOrder(
      held('persons')
        .filter(({ is_deleted }) => is_deleted === 0)
        .map(({ id, version, properties, is_identified, created_at }) => ({
          key: String(id),
          value: [version, JSON.parse(String(properties)), is_identified, created_at],
        })),
    ),
  ).toEqual(
    inOrder(
      persons.map(({ uuid, version, properties, is_identified, made }) => ({
        key: uuid,
        value: [version, properties, is_identified, timeText(BigInt(made))],
      })),
    ),
  )
  expect(
    inOrder(
      held('person_distinct_ids').map((row) => ({
        key: String(row.distinct_id),
        value: [row.person_id, row.version],
      })),
    ),
  ).toEqual(inOrder(ids.map((row) => ({ key: row.distinct_id, value: [row.person, row.version] }))))
  expect(
    inOrder(
      held('groups').map((row) => ({
        key: `${row.index} ${row.key}`,
        value: JSON.parse(String(row.properties)),
      })),
    ),
  ).toEqual(inOrder(groups.map((row) => ({ key: `${row.index} ${row.key}`, value: row.properties }))))
}

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
const any = <Item>(items: readonly Item[]) => items[Math.floor(Math.random() * items.length)]!

function anyEvent(name: string): PipelineEvent {
  const distinct_id = any(IDS)
  const $set = { [name]: 1 }
  return any([
    () => event({ distinct_id, properties: { $set } }),
    () => event({ event: '$identify', distinct_id, properties: { $anon_distinct_id: any(IDS), $set } }),
    () => event({ event: '$merge_dangerously', distinct_id, properties: { alias: any(IDS), $set } }),
    () =>
      event({
        event: '$groupidentify',
        distinct_id,
        properties: { $group_type: any(['t', 'u']), $group_key: any(IDS), $group_set: $set },
      }),
  ])()
}

it.each([
  [2, IS_LONG ? 1_000 : 60],
  [8, IS_LONG ? 500 : 20],
])(
  '%i writers, of which some die: copies come to what the tables have',
  async (writers, requests) => {
    const late: Insertion[] = []
    const stored: Record<number, number> = {}
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
          write: (...args) =>
            Math.random() < chances.dies ? Promise.reject(new Error('killed')) : store.write(...args),
        })).ingest
      }
      for (let request = 0; request < requests; request++) {
        const project = any(projects)
        const events = [anyEvent(`w${writer}_${request}`), anyEvent(`v${writer}_${request}`)]
        try {
          await running.accept(project, events, 100)
          stored[project.id] = (stored[project.id] ?? 0) + events.length
        } catch (error) {
          expect(String(error)).toMatch(/killed|no answer/)
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
  },
  120_000,
)

it('whoever finds copies past their lease makes them; those in time are left alone', async () => {
  const [project] = projects as [ProjectRow]
  const { ingest } = startWriter(undefined, () => ({ write: () => Promise.reject(new Error('killed')) }))
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
  await expect(ingest.accept(project, [lost], 10)).rejects.toThrow('no ClickHouse')
  expect(clickhouse.rowsOf('persons', project.id)).toEqual([])
  fails = false
  await ingest.accept(project, [lost], 10)
  expect(clickhouse.rowsOf('events', project.id)).toHaveLength(1)
  expect(await owed()).toBe(0)
  await compare(project.id)
})

it('copies of a project that is gone are owed no longer', async () => {
  const [project] = projects as [ProjectRow]
  const { ingest } = startWriter(undefined, () => ({ write: () => Promise.reject(new Error('killed')) }))
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
