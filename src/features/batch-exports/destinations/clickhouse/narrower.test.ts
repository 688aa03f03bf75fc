// A table whose columns cannot be null, and runs that bring fewer of them than the table has.
// @module-tag slow
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  columnsOf,
  openClickHouseWorld,
  type ClickHouseWorld,
} from '../../../../../test/stand-ins/clickhouse/world.ts'
import { digestsOf } from '../../../../../test/stand-ins/warehouse/attempt.ts'
import { COLUMNS, row, send } from '../../../../../test/stand-ins/clickhouse/attempt.ts'
import { deliverHours, openWorkbench, type Workbench } from '../../fixture/workbench.ts'

let world: ClickHouseWorld
let bench: Workbench
beforeEach(async () => {
  world = await openClickHouseWorld()
  bench = await openWorkbench({ OUTBOUND_ALLOW: '127.0.0.1', ALLOW_PLAINTEXT: 'on' })
  bench.app.canary.plant('password', String(world.config.password))
})
afterEach(async () => {
  await bench.app.close()
  await world.close()
})

const INTACT = { verdict: 'intact', rows: 6, problems: [], notes: [] }
const changed = (uuid: string | undefined, name: string) => ({
  verdict: 'problems',
  problems: [
    { kind: 'changed_row', uuid, message: `The row has another value than was delivered in ${name}.` },
  ],
  problems_count: 1,
})

/** Three rows with all columns, and three with those of the query. */
async function deliver(hogql_query: string) {
  const id = await bench.create({ type: 'ClickHouse', config: world.config })
  const wide = await deliverHours(bench, 1)
  const reply = await bench.app.patch(`${bench.base}/${id}/`, { hogql_query }, { key: bench.key })
  expect(reply.status).toBe(200)
  const narrow = await deliverHours(bench, 1)
  return { id, wide, narrow }
}

const tamper = (column: string, uuid: string | undefined) =>
  world.tamper!(`UPDATE TABLE_ SET ${column} = 'tampered' WHERE uuid = '${uuid}'`)

it('what ClickHouse fills in is not taken for a change; changes of what was brought are found', async () => {
  const { id, wide, narrow } = await deliver('SELECT uuid, event, timestamp FROM events')
  const rows = await world.server.catalog.read('events', [])
  expect(rows.find(({ uuid }) => uuid === narrow[0])).toMatchObject({ distinct_id: '', elements_chain: '' })
  expect(await bench.verify(id)).toMatchObject(INTACT)
  const [, run] = await bench.runs(id)
  expect(await bench.verify(id, { run: run!.id })).toMatchObject({ ...INTACT, rows: 3 })
  await tamper('event', narrow[1])
  expect(await bench.verify(id)).toMatchObject(changed(narrow[1], 'event'))
  await bench.act(id, 'repair', { start_at: run!.data_interval_start, end_at: run!.data_interval_end })
  await bench.work()
  expect(await bench.verify(id)).toMatchObject(INTACT)
  await tamper('distinct_id', wide[0])
  expect(await bench.verify(id)).toMatchObject(changed(wide[0], 'distinct_id'))
})

it('a default of the user is theirs as well', async () => {
  const columns = [
    ...columnsOf({ uuid: 'UUID', event: 'String', timestamp: "DateTime64(6, 'UTC')" }),
    { name: 'distinct_id', type: 'String', default_kind: 'DEFAULT' as const, expression: "'nobody'" },
  ]
  const table = { engine: 'MergeTree', version: null, partition_key: '', order: ['uuid'] } as const
  await world.server.catalog.create('events', { ...table, columns })
  const { id, wide, narrow } = await deliver('SELECT uuid, event, timestamp FROM events')
  const rows = await world.server.catalog.read('events', [])
  expect(rows.find(({ uuid }) => uuid === narrow[0])).toMatchObject({ distinct_id: 'nobody' })
  expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', problems: [] })
  await tamper('distinct_id', wide[2])
  expect(await bench.verify(id)).toMatchObject(changed(wide[2], 'distinct_id'))
})

it('what ClickHouse fills in by itself is foretold: digests are enough', async () => {
  await send(world, [row('wide')])
  const columns = COLUMNS.filter(({ name }) => ['uuid', 'event', 'timestamp'].includes(name))
  const { uuid, event, timestamp } = row('narrow')
  await send(world, [{ uuid, event, timestamp }], { columns, run: { id: crypto.randomUUID() } })
  const { there, here } = await digestsOf(world, COLUMNS, [row('wide'), { uuid, event, timestamp }])
  expect(there).toEqual(here)
})
