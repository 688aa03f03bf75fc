// Tables of ClickHouse as verification sees them; every fault that a table can have, through the whole server.
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { COLUMNS, row, send } from '../../../../../test/stand-ins/clickhouse/attempt.ts'
import {
  columnsOf,
  EVENT_TYPES,
  openClickHouseWorld,
  type ClickHouseWorld,
} from '../../../../../test/stand-ins/clickhouse/world.ts'
import { contextOf, digestsOf } from '../../../../../test/stand-ins/warehouse/attempt.ts'
import type { OutputColumn } from '../../definition.ts'
import { describeTableFaults } from '../../verification/fixture/table-faults.ts'
import { uuidOf } from '../fixture/rows.ts'

describeTableFaults('ClickHouse', openClickHouseWorld)

describe('a table that is read back', () => {
  let world: ClickHouseWorld
  beforeEach(async () => {
    world = await openClickHouseWorld()
  })
  afterEach(async () => {
    await world.close()
  })

  it("may be the user's own, with types that hold the same values", async () => {
    const types = {
      ...EVENT_TYPES,
      uuid: 'String',
      event: 'LowCardinality(String)',
      distinct_id: 'Nullable(String)',
    }
    const table = { engine: 'MergeTree', version: null, partition_key: '', order: ['uuid'] } as const
    await world.server.catalog.create('events', { ...table, columns: columnsOf(types) })
    const rows = [row('a'), { ...row('b'), distinct_id: null }]
    await send(world, rows)
    const { there, here } = await digestsOf(world, COLUMNS, rows)
    expect(there).toEqual(here)
    expect(there.size).toBe(2)
  })

  it('is compared without columns whose type may hold other values', async () => {
    const columns = columnsOf({ ...EVENT_TYPES, timestamp: "DateTime64(3, 'UTC')", properties: 'JSON' })
    const table = { engine: 'MergeTree', version: null, partition_key: '', order: ['uuid'] } as const
    await world.server.catalog.create('events', { ...table, columns })
    const { table: found } = await (await world.kind.load()).inspect!(contextOf(world, { columns: COLUMNS }))
    expect(found!.columns.map(({ name }) => name)).toEqual(['uuid', 'event', 'distinct_id'])
  })

  it('has each session once, in the form that its readers see', async () => {
    const columns: OutputColumn[] = [
      { name: 'session_id', kind: 'text' },
      { name: 'team_id', kind: 'integer' },
      { name: 'end_timestamp', kind: 'timestamp' },
    ]
    const session = (minute: number) => ({
      session_id: 's',
      team_id: 7,
      end_timestamp: `2024-03-01T10:0${minute}:00.000000Z`,
    })
    for (const minute of [2, 1]) {
      await send(world, [session(minute)], { columns, run: { model: 'sessions', id: randomUUID() } })
    }
    const { table } = await (await world.kind.load()).inspect!(contextOf(world, { columns }))
    expect(await table!.rows({ project_id: 7, times: null }, '')).toEqual([['s', '7', '1709287320000000']])
  })

  it('may have columns called as the statements call theirs', async () => {
    const columns: OutputColumn[] = ['uuid', 'hash', 'bucket', 'c1'].map((name) => ({ name, kind: 'text' }))
    const rows = [{ uuid: uuidOf('a'), hash: 'h', bucket: 'b', c1: 'c' }]
    await send(world, rows, { columns, run: { has_custom_columns: true } })
    const { there, here } = await digestsOf(world, columns, rows)
    expect(there).toEqual(here)
  })
})
