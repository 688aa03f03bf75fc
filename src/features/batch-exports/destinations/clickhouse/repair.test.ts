// Repairs of a table in ClickHouse, where rows are deleted and attached by statements of their own: what readers see
// meanwhile, and what a worker may still do that another has taken over from.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { load, names, row, send } from '../../../../../test/stand-ins/clickhouse/attempt.ts'
import { ClickHouseError } from '../../../../../test/stand-ins/clickhouse/errors.ts'
import {
  columnsOf,
  EVENT_TYPES,
  openClickHouseWorld,
  type ClickHouseWorld,
} from '../../../../../test/stand-ins/clickhouse/world.ts'
import { Passing } from '../destination.ts'
import { uuidOf } from '../fixture/rows.ts'
import { stillOurs } from '../fixture/still-ours.ts'

let world: ClickHouseWorld
beforeEach(async () => {
  world = await openClickHouseWorld()
})
afterEach(async () => {
  await world.close()
})

const ROWS = ['a', 'b', 'c'].map((name) => row(name))
const repair = (attempt: number) => ({ run: { is_repair: true, attempt } })
const isRow = (name: string) => `"uuid" = '${uuidOf(name)}'`
const change = (name: string) => world.tamper!(`UPDATE TABLE_ SET "distinct_id" = 'x' WHERE ${isRow(name)}`)
const double = (name: string) => world.tamper!(`INSERT INTO TABLE_ SELECT * FROM TABLE_ WHERE ${isRow(name)}`)
const deletions = () =>
  world.server.statements.filter((text) => text.startsWith('ALTER TABLE `analytics`.`events` DELETE'))
const inOrder = async () =>
  (await world.rows()).toSorted((a, b) => (String(a.event) < String(b.event) ? -1 : 1))

describe('a repair', () => {
  it('deletes nothing from a table that is as it was', async () => {
    await send(world, ROWS)
    await send(world, ROWS, repair(2))
    expect(deletions()).toEqual([])
    expect(await inOrder()).toEqual(ROWS)
  })

  it('leaves intact rows in sight, and takes away only those that it brings again', async () => {
    await send(world, ROWS)
    await change('a')
    await double('b')
    world.server.failNext('ATTACH PARTITION', new ClickHouseError(745, 'SERVER_OVERLOADED', 'overloaded'))
    await expect(send(world, ROWS, repair(2))).rejects.toThrow(Passing)
    expect(names(await world.rows())).toEqual(['event c'])
    await send(world, ROWS, repair(3))
    expect(await inOrder()).toEqual(ROWS)
    expect(await world.leftovers()).toEqual([])
  })

  it('sees a null that became an empty text', async () => {
    const types = { ...EVENT_TYPES, distinct_id: 'Nullable(String)' }
    const table = { engine: 'MergeTree', version: null, partition_key: '', order: ['uuid'] } as const
    await world.server.catalog.create('events', { ...table, columns: columnsOf(types) })
    const rows = [{ ...row('a'), distinct_id: null }]
    await send(world, rows)
    await world.tamper!(`UPDATE TABLE_ SET "distinct_id" = ''`)
    await send(world, rows, repair(2))
    expect(await world.rows()).toEqual(rows)
  })

  it('that has lost its stage to another attempt deletes nothing that the other brought', async () => {
    await send(world, ROWS)
    await change('a')
    const late = await load(world, ROWS, repair(2))
    const held = world.server.holdNext()
    const finishing = late.finish(stillOurs)
    finishing.catch(() => undefined)
    await held.began
    // As if the server had not seen the deletion yet: the other attempt finds none under way.
    world.server.failNext('system.mutations', { status: 200, text: '[0]\n' })
    await send(world, ROWS, repair(3))
    held.go()
    await expect(finishing).rejects.toThrow('another attempt at this run has taken over')
    await late.abort()
    expect(await inOrder()).toEqual(ROWS)
    expect(await world.leftovers()).toEqual([])
  })

  it('waits until what an earlier attempt deletes is gone', async () => {
    await send(world, ROWS)
    await double('a')
    const controller = new AbortController()
    const first = await load(world, ROWS, { ...repair(2), signal: controller.signal })
    const held = world.server.holdNext()
    const finishing = first.finish(stillOurs)
    await held.began
    controller.abort(new Error('lost the lease'))
    await expect(finishing).rejects.toThrow('lost the lease')
    const second = send(world, ROWS, repair(3))
    await expect(second).rejects.toThrow(Passing)
    await expect(second).rejects.toThrow('an earlier attempt at this run is still being ended')
    held.go()
    await first.abort()
    await expect.poll(() => send(world, ROWS, repair(4)).then(() => 'done', String)).toBe('done')
    expect(await inOrder()).toEqual(ROWS)
    expect(await world.leftovers()).toEqual([])
  })
})
