// ClickHouse against a stand-in that knows the statements and runs them on real tables, and against ClickHouse itself
// when the environment names a server (scripts/clickhouse).
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  COLUMNS,
  load,
  names,
  row,
  send,
  WITHOUT_UUID,
} from '../../../../../test/stand-ins/clickhouse/attempt.ts'
import { ClickHouseError } from '../../../../../test/stand-ins/clickhouse/errors.ts'
import { asParquet } from '../../../../../test/stand-ins/clickhouse/parquet-file.ts'
import {
  columnsOf,
  EVENT_TYPES,
  openClickHouseWorld,
  type ClickHouseWorld,
} from '../../../../../test/stand-ins/clickhouse/world.ts'
import { attempt, contextOf } from '../../../../../test/stand-ins/warehouse/attempt.ts'
import { Passing, Refused } from '../destination.ts'
import { uuidOf } from '../fixture/rows.ts'
import { stillOurs } from '../fixture/still-ours.ts'
import { describeDestination } from '../fixture/suite.ts'
import { describeRealClickHouse } from './fixture/real.ts'

describeDestination('ClickHouse', () => openClickHouseWorld())
const address = process.env.CLICKHOUSE_URL
if (address !== undefined) describeRealClickHouse(address)

let world: ClickHouseWorld
beforeEach(async () => {
  world = await openClickHouseWorld()
})
afterEach(async () => {
  await world.close()
})
const withConfig = (config: Record<string, unknown>) => ({ ...world, config: { ...world.config, ...config } })

describe('a run', () => {
  it('of several files is one, and its entry in the ledger says how long it is', async () => {
    const files = [[row('a'), row('b')], [row('c')]]
    const delivered = await attempt(world, { columns: COLUMNS, files, asFile: asParquet(COLUMNS) })
    expect(delivered).toEqual({ rows: 3, files: [] })
    expect(names(await world.rows())).toEqual(['event a', 'event b', 'event c'])
    expect(await world.server.catalog.read('longshore_export_runs', [])).toMatchObject([
      { run_id: '0192c0de-0000-7000-8000-000000000001', table_name: 'events', rows: 3 },
    ])
    expect(await world.leftovers()).toEqual([])
  })

  it('that shares some rows with an earlier one adds the others', async () => {
    await send(world, [row('a'), row('b')])
    const delivered = await send(world, [row('b'), row('c')], { run: { id: uuidOf('backfill') } })
    expect(delivered.rows).toBe(2)
    expect(names(await world.rows())).toEqual(['event a', 'event b', 'event c'])
  })

  it('is not made visible when its stage does not hold what was sent', async () => {
    const delivery = await load(world, [row('a')])
    const [stage] = await world.leftovers()
    const { rows } = world.server.catalog.get(stage!)
    await world.server.catalog.duck.run([`INSERT INTO ${rows} SELECT * FROM ${rows}`])
    await expect(delivery.finish(stillOurs)).rejects.toThrow('the stage holds 2 rows after 1 were sent')
    await delivery.abort()
    expect(await world.rows()).toEqual([])
    expect(await world.leftovers()).toEqual([])
  })

  it('is there once although the ledger could not be written', async () => {
    const overloaded = new ClickHouseError(745, 'SERVER_OVERLOADED', 'CPU is overloaded')
    for (const [columns, rows] of [
      [COLUMNS, [row('a')]],
      [WITHOUT_UUID, [{ event: 'x' }, { event: 'x' }]],
    ] as const) {
      const table_name = columns === COLUMNS ? 'events' : 'custom'
      const place = withConfig({ table_name })
      const sent = {
        columns: [...columns],
        run: { id: uuidOf(table_name), has_custom_columns: columns !== COLUMNS },
      }
      world.server.failNext('`longshore_export_runs` SELECT', overloaded)
      await expect(send(place, rows, sent)).rejects.toThrow(Passing)
      expect(await send(place, rows, { ...sent, run: { ...sent.run, attempt: 2 } })).toMatchObject({
        rows: rows.length,
      })
      expect((await world.server.catalog.read(table_name, [])).length).toBe(rows.length)
    }
  })

  it('without a uuid of which only a part survived a crash is not taken for whole', async () => {
    const sent = { columns: WITHOUT_UUID, run: { has_custom_columns: true } }
    world.server.failNext(
      '`longshore_export_runs` SELECT',
      new ClickHouseError(999, 'KEEPER_EXCEPTION', 'gone'),
    )
    await expect(send(world, [{ event: 'x' }, { event: 'y' }], sent)).rejects.toThrow(Passing)
    const { rows } = world.server.catalog.get('events')
    await world.server.catalog.duck.run([`DELETE FROM ${rows} WHERE event = 'y'`])
    const again = send(world, [{ event: 'x' }, { event: 'y' }], { ...sent, run: { ...sent.run, attempt: 2 } })
    await expect(again).rejects.toThrow(Refused)
    await expect(again).rejects.toThrow(
      "holds 1 of this run's 2 rows, as after a crash of ClickHouse. Delete those with longshore_run_id = '0192c0de-0000-7000-8000-000000000001'",
    )
    expect(await world.rows()).toEqual([{ event: 'x' }])
  })

  it('is not over when the attaching was passed over', async () => {
    world.server.failNext('ATTACH PARTITION', { status: 200, text: '' })
    const passed = send(world, [row('a')])
    await expect(passed).rejects.toThrow(Passing)
    await expect(passed).rejects.toThrow('1 rows are not in the table although they were attached')
    expect(await world.server.catalog.read('longshore_export_runs', [])).toEqual([])
    await send(world, [row('a')], { run: { attempt: 2 } })
    expect(await world.rows()).toEqual([row('a')])
  })
})

describe('of two attempts at a run', () => {
  it('the late one finds its stage gone and adds nothing', async () => {
    const late = await load(world, [row('a')])
    await send(world, [row('a')], { run: { attempt: 2 } })
    const finished = late.finish(stillOurs)
    await expect(finished).rejects.toThrow(Passing)
    await expect(finished).rejects.toThrow('another attempt at this run has taken over')
    await late.abort()
    expect(await world.rows()).toEqual([row('a')])
    expect(await world.leftovers()).toEqual([])
  })

  it('the newer one waits for what the other is just attaching', async () => {
    const first = await load(world, [row('a')])
    const held = world.server.holdNext()
    const attaching = first.finish(stillOurs)
    await held.began
    const second = await load(world, [row('a')], { run: { attempt: 2 } })
    const finishing = second.finish(stillOurs)
    await expect.poll(() => world.server.catalog.dropped()).toHaveLength(1)
    expect(await world.rows()).toEqual([])
    held.go()
    // It cannot look any more whether all of its rows have arrived.
    await expect(attaching).rejects.toThrow(Passing)
    expect(await finishing).toEqual({ rows: 1, files: [] })
    expect(await world.rows()).toEqual([row('a')])
    expect(await world.leftovers()).toEqual([])
  })

  it('the newer one gives way while the other, given up, is still attaching', async () => {
    const controller = new AbortController()
    const first = await load(world, [row('a')], { signal: controller.signal })
    const held = world.server.holdNext()
    const attaching = first.finish(stillOurs)
    await held.began
    controller.abort(new Error('lost the lease'))
    await expect(attaching).rejects.toThrow('lost the lease')
    const given_up = first.abort()
    await expect.poll(() => world.server.catalog.dropped()).toHaveLength(1)
    const second = send(world, [row('a')], { run: { attempt: 2 } })
    await expect(second).rejects.toThrow(Passing)
    await expect(second).rejects.toThrow('an earlier attempt at this run is still being ended')
    held.go()
    await given_up
    await send(world, [row('a')], { run: { attempt: 3 } })
    expect(await world.rows()).toEqual([row('a')])
    expect(await world.leftovers()).toEqual([])
  })
})

describe('a sweep', () => {
  it('drops the stages of the run, and no table of anybody else that is called alike', async () => {
    const context = contextOf(world, { columns: COLUMNS, run: { attempt: 3 } })
    const stage = `longshore_stage_${context.run.id.replaceAll('-', '')}`
    const foreign = ['longshore_stage_backup', `${stage}_4`, `${stage}_x`, `${stage}_1_copy`]
    const table = { engine: 'MergeTree', version: null, partition_key: '', order: ['uuid'] } as const
    for (const name of [...foreign, `${stage}_1`, `${stage}_3`])
      await world.server.catalog.create(name, { ...table, columns: columnsOf(EVENT_TYPES) })
    const { sweep } = await world.kind.load()
    const removed: string[] = []
    for await (const { name } of sweep!({ ...context, runs: [{ ...context.run, uploads: [] }] })) {
      removed.push(name)
    }
    expect(removed).toEqual([`${stage}_1`, `${stage}_3`])
    expect((await world.leftovers()).toSorted()).toEqual(foreign.toSorted())
  })
})
