// The stream's side of the catalogue: what it costs, what it keeps, and that nobody notices when it cannot write.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { makeDatabase } from '../../../test/harness/app.ts'
import { Changes } from '../../platform/changes.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql, type Statement } from '../../platform/db/sql.ts'
import { openLog } from '../../platform/log/log.ts'
import { insertOrganization } from '../organizations/queries.ts'
import { insertProject } from '../projects/queries.ts'
import { MAX_EVENTS, MAX_PAIRS, MAX_PROPERTIES, MAX_PROPERTIES_OF_EVENT } from './limits.ts'
import type { NamedEvent } from './news.ts'
import { DefinitionStream } from './stream.ts'

const PROJECTS = 120
const NEVER_MS = 2 ** 31 - 1

let made: Awaited<ReturnType<typeof makeDatabase>>
let ids: number[]
beforeAll(async () => {
  made = await makeDatabase()
  const now = new Date()
  const organization = await insertOrganization(made.db, { name: 'Many' }, now)
  ids = []
  for (let n = 0; n < PROJECTS; n++) ids.push((await insertProject(made.db, organization.id, {}, now)).id)
})
afterAll(() => made.drop())

let statements: string[]
let isAway: boolean
let logs: string[]
beforeEach(() => {
  statements = []
  logs = []
  isAway = false
})

/** Notes each statement, and fails when the database is to be away. */
function watched(db: Db): Db {
  const noted = <Result>(statement: Statement, run: () => Promise<Result>) => {
    statements.push(statement.text)
    return isAway ? Promise.reject(new Error('away')) : run()
  }
  return {
    rows: (statement) => noted(statement, () => db.rows(statement)),
    row: (statement) => noted(statement, () => db.row(statement)),
    only: (statement) => noted(statement, () => db.only(statement)),
    run: (statement) => noted(statement, () => db.run(statement)),
    transaction: (work) => db.transaction((tx) => work(watched(tx))),
    afterCommit: (then) => db.afterCommit(then),
  }
}

function openStream(options: { max_known?: number } = {}) {
  const log = openLog({ level: 'warn', format: 'json', to: { write: (line) => void logs.push(line) } })
  const changes = new Changes()
  const db = { ...made.db, ...watched(made.db) }
  return new DefinitionStream({ db, log, now: () => new Date(), changes }, { delay_ms: NEVER_MS, ...options })
}

const event = (name: string, properties: NamedEvent['properties'] = {}): NamedEvent => ({
  event: name,
  properties,
})

const listed = async (project_id: number) => {
  const events = await made.db.rows<{ name: string; properties: string[] }>(
    sql`SELECT name, properties FROM event_definition WHERE project_id = ${project_id} ORDER BY name`,
  )
  const properties = await made.db.rows<{ type: string; name: string }>(
    sql`SELECT type, name FROM property_definition WHERE project_id = ${project_id} ORDER BY type, name`,
  )
  return { events, properties }
}

it('many projects cost few statements, and none at all once they are known', async () => {
  const stream = openStream()
  const seeAll = () => ids.forEach((id) => stream.observe(id, event('seen', { a: 1, b: 'x' })))
  seeAll()
  await stream.flush()
  const rounds = Math.ceil(PROJECTS / 50)
  expect(statements.length).toBe(4 * rounds)
  expect(await listed(ids.at(-1)!)).toEqual({
    events: [{ name: 'seen', properties: ['a', 'b'] }],
    properties: [
      { type: 'event', name: 'a' },
      { type: 'event', name: 'b' },
    ],
  })
  statements = []
  seeAll()
  await stream.flush()
  expect(statements).toEqual([])
  await stream.close()
  // After a restart they are read once, and nothing is written.
  const next = openStream()
  ids.forEach((id) => next.observe(id, event('seen', { a: 1, b: 'x' })))
  await next.flush()
  expect(statements.length).toBe(2 * rounds)
  expect(statements.filter((text) => /INSERT|UPDATE/.test(text))).toEqual([])
  await next.close()
})

it('what does not fit into memory is let go and read again', async () => {
  const stream = openStream({ max_known: 100 })
  for (let round = 0; round < 2; round++) {
    for (const id of ids.slice(0, 60)) stream.observe(id, event('tight', { [`c${round}`]: 1 }))
    await stream.flush()
  }
  for (const id of [ids[0]!, ids[59]!]) {
    const { events } = await listed(id)
    expect(events.find(({ name }) => name === 'tight')?.properties.toSorted()).toEqual(['c0', 'c1'])
  }
  await stream.close()
})

it('a sender of countless names fills neither tables nor memory, and hides no neighbour', async () => {
  const [hostile, neighbour] = [ids[0]!, ids[1]!]
  const stream = openStream()
  const names = (prefix: string, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, n]))
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 8; n++)
      stream.observe(hostile, event(`flood ${round}`, names(`p${round}_${n}_`, 4_000)))
    for (let n = 0; n < 4_000; n++)
      stream.observe(hostile, event(`name ${round} ${n}`, { $set: { [`s${n}`]: n } }))
    for (let n = 0; n < 200; n++)
      stream.observe(
        hostile,
        event('$groupidentify', { $group_type: `t${round} ${n}`, $group_set: names('g', 50) }),
      )
    stream.observe(neighbour, event('quiet', { [`q${round}`]: true }))
    await stream.flush()
  }
  const { events, properties } = await listed(hostile)
  const ofType = (type: string) => properties.filter((each) => each.type === type).length
  expect(events.length).toBeLessThanOrEqual(MAX_EVENTS)
  expect(ofType('event')).toBeLessThanOrEqual(MAX_PROPERTIES)
  expect(ofType('person')).toBeLessThanOrEqual(MAX_PROPERTIES)
  expect(ofType('group')).toBe(0)
  expect(Math.max(...events.map((each) => each.properties.length))).toBeLessThanOrEqual(
    MAX_PROPERTIES_OF_EVENT,
  )
  expect(events.reduce((sum, each) => sum + each.properties.length, 0)).toBeLessThanOrEqual(MAX_PAIRS)
  expect([events.length, ofType('event')].every((count) => count > 1_000)).toBe(true)
  expect((await listed(neighbour)).events.find(({ name }) => name === 'quiet')?.properties.length).toBe(2)
  // Full: what comes now is not even written.
  statements = []
  for (let n = 0; n < 2_000; n++) stream.observe(hostile, event(`again ${n}`))
  await stream.flush()
  for (let n = 0; n < 2_000; n++) stream.observe(hostile, event(`and again ${n}`))
  await stream.flush()
  expect((await listed(hostile)).events.length).toBe(MAX_EVENTS)
  statements = []
  stream.observe(hostile, event('one more', { $set: { s1: 1 } }))
  await stream.flush()
  expect(statements).toEqual([])
  await stream.close()
})

it('names that no column takes are passed over, the rest of their events is kept', async () => {
  const stream = openStream()
  const id = ids[2]!
  stream.observe(id, event('nul\0', { a: 1 }))
  stream.observe(id, event('x'.repeat(201), { a: 1 }))
  stream.observe(id, event('', { a: 1 }))
  stream.observe(id, event('good', { 'nul\0': 1, '\ud800': 1, ['y'.repeat(201)]: 1, '{"\\': 1 }))
  await stream.flush()
  expect((await listed(id)).events.find(({ name }) => name === 'good')?.properties).toEqual(['{"\\'])
  expect((await listed(id)).events.some(({ name }) => name.startsWith('x') || name.startsWith('nul'))).toBe(
    false,
  )
  await stream.close()
})

it('while the database is away nobody fails, and it is written afterwards', async () => {
  const stream = openStream()
  const id = ids[3]!
  isAway = true
  stream.observe(id, event('patient', { a: 1 }))
  await expect(stream.flush()).rejects.toThrow('away')
  stream.observe(id, event('patient', { b: 1 }))
  isAway = false
  await stream.flush()
  // What had been put back comes with the next such event at the latest.
  stream.observe(id, event('patient', { a: 1 }))
  await stream.close()
  expect((await listed(id)).events.find(({ name }) => name === 'patient')?.properties.toSorted()).toEqual([
    'a',
    'b',
  ])
})

it('a project that is gone does not keep the others waiting', async () => {
  const stream = openStream()
  stream.observe(2_000_000_000, event('nowhere', { a: 1 }))
  stream.observe(ids[4]!, event('here', { a: 1 }))
  await stream.flush()
  expect((await listed(ids[4]!)).events.some(({ name }) => name === 'here')).toBe(true)
  expect((await listed(2_000_000_000)).events).toEqual([])
  expect(logs).toEqual([])
  await stream.close()
})
