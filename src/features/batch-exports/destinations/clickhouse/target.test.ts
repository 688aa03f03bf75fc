// Tables of ClickHouse: those that the first run makes, and those of the user.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { COLUMNS, names, row, send } from '../../../../../test/stand-ins/clickhouse/attempt.ts'
import {
  columnsOf,
  EVENT_TYPES,
  openClickHouseWorld,
  type ClickHouseWorld,
} from '../../../../../test/stand-ins/clickhouse/world.ts'
import type { OutputColumn } from '../../definition.ts'
import { Refused } from '../destination.ts'
import { uuidOf } from '../fixture/rows.ts'
import { hasOneRowForUuid } from './target.ts'

let world: ClickHouseWorld
beforeEach(async () => {
  world = await openClickHouseWorld()
})
afterEach(async () => {
  await world.close()
})
const tableOf = (name = 'events') => {
  const { engine, version, order, columns } = world.server.catalog.get(name)
  return { engine, version, order, columns: columns.map((column) => `${column.name} ${column.type}`) }
}

describe('the table', () => {
  it('of events lies by name and time, with types that have no null where there is none', async () => {
    const columns: OutputColumn[] = [
      ...COLUMNS,
      { name: 'team_id', kind: 'integer' },
      { name: 'elements_chain', kind: 'text' },
      { name: 'person_id', kind: 'text' },
      { name: 'person_properties', kind: 'json' },
      { name: 'created_at', kind: 'timestamp' },
    ]
    const person = { person_id: null, person_properties: {}, created_at: '2024-03-01T10:00:01.000000Z' }
    await send(world, [{ ...row('a'), team_id: 7, elements_chain: '', ...person }], { columns })
    expect(tableOf()).toEqual({
      engine: 'MergeTree',
      version: null,
      order: ['event', 'timestamp', 'uuid'],
      columns: [
        'uuid UUID',
        'event String',
        'properties String',
        'distinct_id String',
        "timestamp DateTime64(6, 'UTC')",
        'team_id Int64',
        'elements_chain String',
        'person_id Nullable(UUID)',
        'person_properties String',
        "created_at DateTime64(6, 'UTC')",
      ],
    })
    expect(await world.rows()).toEqual([
      { ...row('a'), team_id: 7, elements_chain: '', ...person, person_properties: '{}' },
    ])
  })

  it('of columns of the user has none that must have a value but the uuid', async () => {
    const columns: OutputColumn[] = [
      { name: 'uuid', kind: 'text' },
      { name: 'event', kind: 'integer' },
      { name: 'timestamp', kind: 'text' },
      { name: 'it\'s `quoted` \\ "twice"', kind: 'boolean' },
    ]
    const odd = { uuid: uuidOf('a'), event: null, timestamp: null, 'it\'s `quoted` \\ "twice"': true }
    await send(world, [odd], { columns, run: { has_custom_columns: true } })
    expect(tableOf()).toEqual({
      engine: 'MergeTree',
      version: null,
      order: ['uuid'],
      columns: [
        'uuid UUID',
        'event Nullable(Int64)',
        'timestamp Nullable(String)',
        'it\'s `quoted` \\ "twice" Nullable(Bool)',
      ],
    })
    expect(await world.rows()).toEqual([odd])
  })

  it('may not have columns with control characters in their names', async () => {
    const columns: OutputColumn[] = [{ name: 'a\u0000b', kind: 'text' }]
    const refused = send(world, [], { columns, run: { has_custom_columns: true } })
    await expect(refused).rejects.toThrow(Refused)
    expect(world.server.catalog.names()).toEqual(['longshore_export_runs'])
  })

  it('of persons holds who a distinct id went to last, whatever that person counted', async () => {
    const columns: OutputColumn[] = [
      { name: 'team_id', kind: 'integer' },
      { name: 'distinct_id', kind: 'text' },
      { name: 'person_id', kind: 'text' },
      { name: 'person_distinct_id_version', kind: 'integer' },
      { name: 'person_version', kind: 'integer' },
    ]
    const person = (name: string, moved: number, changed: number) => ({
      team_id: 1,
      distinct_id: 'ann',
      person_id: uuidOf(name),
      person_distinct_id_version: moved,
      person_version: changed,
    })
    const run = (id: string) => ({ model: 'persons' as const, id: uuidOf(id) })
    await send(world, [person('new', 1, 1)], { columns, run: run('second') })
    await send(world, [person('old', 0, 900)], { columns, run: run('first') })
    expect(await world.rows()).toEqual([person('new', 1, 1)])
    expect(tableOf()).toMatchObject({
      engine: 'ReplacingMergeTree',
      version: 'longshore_version',
      order: ['team_id', 'distinct_id'],
    })
  })

  it('of sessions holds their longest form', async () => {
    const columns: OutputColumn[] = [
      { name: 'session_id', kind: 'text' },
      { name: 'team_id', kind: 'integer' },
      { name: 'end_timestamp', kind: 'timestamp' },
      { name: 'pageview_count', kind: 'integer' },
    ]
    const session = (minute: number) => ({
      session_id: 's',
      team_id: 1,
      end_timestamp: `2024-03-01T10:0${minute}:00.000000Z`,
      pageview_count: minute,
    })
    for (const minute of [1, 3, 2]) {
      await send(world, [session(minute)], { columns, run: { model: 'sessions', id: uuidOf(`${minute}`) } })
    }
    expect(await world.rows()).toEqual([session(3)])
  })

  it.each([
    ['events', 'Memory', 'cannot take a whole run at once. Use a MergeTree'],
    ['sessions', 'MergeTree', 'keeps every version of sessions. Use a ReplacingMergeTree'],
  ] as const)('of the user, for %s, may not be a %s', async (model, engine, message) => {
    const table = { engine, version: null, partition_key: '', order: [], columns: columnsOf(EVENT_TYPES) }
    await world.server.catalog.create('events', table)
    const refused = send(world, [row('a')], { run: { model } })
    await expect(refused).rejects.toThrow(Refused)
    await expect(refused).rejects.toThrow(message)
    expect(await world.rows()).toEqual([])
    expect(await world.leftovers()).toEqual([])
  })

  it('of the user without a uuid is refused with what to add, and taken once it is there', async () => {
    const columns = columnsOf({ event: 'Nullable(String)' })
    const table = { engine: 'MergeTree', version: null, partition_key: '', order: [] } as const
    await world.server.catalog.create('events', { ...table, columns })
    const refused = send(world, [row('a')])
    await expect(refused).rejects.toThrow(Refused)
    await expect(refused).rejects.toThrow(
      "ALTER TABLE `analytics`.`events` ADD COLUMN `longshore_run_id` UUID MATERIALIZED toUUID('00000000-0000-0000-0000-000000000000')",
    )
    expect(await world.leftovers()).toEqual([])
    await world.server.catalog.drop('events')
    const run_id = { name: 'longshore_run_id', type: 'UUID', default_kind: 'MATERIALIZED' } as const
    const added = [...columns, { ...run_id, expression: "toUUID('00000000-0000-0000-0000-000000000000')" }]
    await world.server.catalog.create('events', { ...table, columns: added })
    await send(world, [row('a')], { run: { attempt: 2 } })
    expect(await world.rows()).toEqual([{ event: 'event a' }])
  })

  it('of the user may be partitioned', async () => {
    await world.server.catalog.create('events', {
      engine: 'MergeTree',
      version: null,
      partition_key: 'toYYYYMM(timestamp)',
      order: ['uuid'],
      columns: columnsOf(EVENT_TYPES),
    })
    await send(world, [row('a'), row('b', '2023-12-31T10:00:00.000000Z')])
    expect(names(await world.rows())).toEqual(['event a', 'event b'])
  })

  it('leaves a computed column of the user to ClickHouse', async () => {
    const columns = columnsOf(EVENT_TYPES)
    columns[1] = {
      name: 'event',
      type: 'String',
      default_kind: 'MATERIALIZED',
      expression: 'upper(distinct_id)',
    }
    const table = { engine: 'MergeTree', version: null, partition_key: '', order: ['uuid'] } as const
    await world.server.catalog.create('events', { ...table, columns })
    const logged: string[] = []
    await send(world, [row('a')], { logged })
    const { event: _, ...rest } = row('a')
    expect(await world.rows()).toEqual([rest])
    expect(logged).toEqual(['WARNING The table lacks the columns event: they are left out.'])
  })
})

it.each([
  ['ReplacingMergeTree', 'ORDER BY uuid', true],
  ['SharedReplacingMergeTree', 'PARTITION BY toYYYYMM(timestamp) ORDER BY (team_id, uuid)', true],
  ['ReplacingMergeTree', 'PRIMARY KEY event ORDER BY (event, timestamp, uuid)', false],
  ['ReplacingMergeTree', 'ORDER BY (`timestamp`, `uuid`)', false],
  // Events of one uuid are more than a day apart.
  ['ReplacingMergeTree', 'ORDER BY (team_id, toDate(timestamp), event, cityHash64(uuid))', false],
  ['ReplacingMergeTree', 'ORDER BY (toStartOfHour(`timestamp`), uuid)', false],
  ['ReplacingMergeTree', 'ORDER BY toYYYYMMDD(timestamp)', false],
  ['ReplacingMergeTree', 'ORDER BY (toStartOfMonth(timestamp), uuid)', true],
  ['MergeTree', 'ORDER BY uuid', false],
])('a %s %s leaves one row of a uuid: %s', (engine, keys, is_one) => {
  expect(hasOneRowForUuid({ engine, keys })).toBe(is_one)
})
