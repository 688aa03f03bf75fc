// Snowflake through its own driver, against a stand-in that checks logins and runs the statements on real tables.
// @module-tag slow
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { attempt, contextOf, digestsOf, withFile } from '../../../../../test/stand-ins/warehouse/attempt.ts'
import { openSnowflakeWorld, type SnowflakeWorld } from '../../../../../test/stand-ins/snowflake/world.ts'
import { openOutbound } from '../../../../platform/outbound/outbound.ts'
import type { OutputColumn } from '../../definition.ts'
import { Refused, Unreachable } from '../destination.ts'
import { stillOurs } from '../fixture/still-ours.ts'
import { describeDestination } from '../fixture/suite.ts'
import { snowflakeHost, snowflakeKind } from './kind.ts'
import { snowflakeAt } from './snowflake.ts'

describeDestination('Snowflake', () => openSnowflakeWorld())

const COLUMNS: OutputColumn[] = [
  { name: 'uuid', kind: 'text' },
  { name: 'people_set', kind: 'json' },
]
const row = (uuid: string) => ({ uuid, people_set: null })

let world: SnowflakeWorld
beforeEach(async () => {
  world = await openSnowflakeWorld()
})
afterEach(async () => {
  await world.close()
})

const withConfig = (config: Record<string, unknown>) => ({ ...world, config: { ...world.config, ...config } })

describe('a login', () => {
  it('by key pair works, with the passphrase of the key', async () => {
    const place = { ...world, config: world.server.keypair_config }
    expect(await attempt(place, { columns: COLUMNS, files: [[row('a')]] })).toEqual({ rows: 1, files: [] })
    expect(await world.rows()).toEqual([row('a')])
  })

  it('with the wrong passphrase is refused without a word of the key', async () => {
    const config = { ...world.server.keypair_config, private_key_passphrase: 'another phrase' }
    const refused = await attempt({ ...world, config }, { columns: COLUMNS, files: [] }).catch(String)
    expect(refused).toContain('The private key cannot be read')
    expect(refused).not.toContain('another phrase')
    expect(refused).not.toMatch(/BEGIN|KEY-----/)
  })

  it('with a warehouse that is not there is refused', async () => {
    const refused = attempt(withConfig({ warehouse: 'NOWHERE' }), { columns: COLUMNS, files: [] })
    await expect(refused).rejects.toThrow(Refused)
    await expect(refused).rejects.toThrow('the warehouse does not exist')
    expect(world.server.open_sessions()).toBe(0)
  })

  it('is not tried where the gate says no', async () => {
    const outbound = openOutbound({ allow: [] })
    world.cuts!.reset()
    const refused = attempt({ ...world, outbound }, { columns: COLUMNS, files: [] })
    await expect(refused).rejects.toThrow('its address is not public')
    await outbound.close()
    expect(world.cuts!.count()).toBe(0)
  })

  it('where nobody answers is told from a refusal', async () => {
    const kind = { ...world.kind, load: async () => snowflakeAt(() => 'http://127.0.0.1:9') as never }
    await expect(attempt({ ...world, kind }, { columns: COLUMNS, files: [] })).rejects.toThrow(Unreachable)
  })

  it.each([
    ['shop-eu1', 'https://shop-eu1.snowflakecomputing.com'],
    ['Org-My_Shop', 'https://org-my-shop.snowflakecomputing.com'],
    ['xy12345.us-west-2', 'https://xy12345.snowflakecomputing.com'],
    ['xy12345.eu-central-1.aws', 'https://xy12345.eu-central-1.aws.snowflakecomputing.com'],
    ['xy12345.cn-north-1', 'https://xy12345.cn-north-1.snowflakecomputing.cn'],
  ])('of %s goes to %s', (account, url) => {
    expect(`https://${snowflakeHost(account)}`).toBe(url)
  })
})

describe('a sweep', () => {
  it('drops the stages of the run, and no table of anybody else that is called alike', async () => {
    const context = contextOf(world, { columns: COLUMNS, run: { attempt: 3 } })
    const stage = `stage_events_${context.run.id.replaceAll('-', '')}`
    const foreign = ['stage_events_backup', `${stage}_4`, `${stage}_x`, `${stage}_1_copy`]
    for (const name of [...foreign, `${stage}_1`, `${stage}_3`])
      await world.server.tables.run([`CREATE TABLE "${name}" (a VARCHAR)`])
    const { sweep } = await world.kind.load()
    const removed: string[] = []
    for await (const { name } of sweep!({ ...context, runs: [{ ...context.run, uploads: [] }] })) {
      removed.push(name)
    }
    expect(removed).toEqual([`${stage}_1`, `${stage}_3`])
    expect((await world.leftovers()).toSorted()).toEqual(foreign.toSorted())
  })
})

describe('a run', () => {
  it('finds events again by the time that a column of fewer digits has kept of theirs', async () => {
    await world.server.tables.run(['CREATE TABLE "events" ("uuid" VARCHAR, "timestamp" TIMESTAMP_MS)'])
    const columns: OutputColumn[] = [
      { name: 'uuid', kind: 'text' },
      { name: 'timestamp', kind: 'timestamp' },
    ]
    const at = (timestamp: string) => ({ uuid: 'a', timestamp })
    const files = [[at('2024-03-01T10:00:00.123456Z'), at('2024-04-01T10:00:00.654321Z')]]
    const run = { told_apart_by: ['timestamp'] as const }
    const rows = async () => (await world.server.tables.run(['SELECT * FROM "events"'])).length
    await attempt(world, { columns, files, run })
    await attempt(world, { columns, files, run: { ...run, id: '0192c0de-0000-7000-8000-000000000002' } })
    expect(await rows()).toBe(2)
    await attempt(world, { columns, files, run: { ...run, attempt: 2, is_repair: true } })
    expect(await rows()).toBe(2)
  })

  it('closes its session, at the end and when given up', async () => {
    await attempt(world, { columns: COLUMNS, files: [[row('a')], [row('b')]] })
    expect(world.server.open_sessions()).toBe(0)
    const again = contextOf(world, { columns: COLUMNS, run: { attempt: 2 } })
    await (await (await world.kind.load()).open(again)).finish(stillOurs)
    expect(world.server.open_sessions()).toBe(0)
    const other = contextOf(world, { columns: COLUMNS, run: { id: '0192c0de-0000-7000-8000-000000000002' } })
    await (await (await world.kind.load()).open(other)).abort()
    expect(world.server.open_sessions()).toBe(0)
    expect((await world.rows()).length).toBe(2)
    expect(await world.leftovers()).toEqual([])
  })

  it('of rows without a key is there once although two workers finish it at the same time', async () => {
    const { open } = await world.kind.load()
    const columns: OutputColumn[] = [{ name: 'event', kind: 'text' }]
    const worker = async (number: number) => {
      const context = contextOf(world, { columns, run: { has_custom_columns: true, attempt: number } })
      const delivery = await open(context)
      await withFile([{ event: 'a' }, { event: 'a' }], (file) => delivery.write(file))
      return delivery
    }
    // In this order neither finds a stage of the other to drop.
    const workers = [await worker(2), await worker(1)]
    const delivered = await Promise.all(workers.map((delivery) => delivery.finish(stillOurs)))
    expect(delivered.map(({ rows }) => rows)).toEqual([2, 2])
    expect(await world.rows()).toEqual([{ event: 'a' }, { event: 'a' }])
    expect((await world.server.tables.rows('longshore_export_runs', [])).length).toBe(1)
    expect(await world.leftovers()).toEqual([])
  })

  it('that the table refuses leaves neither rows nor an entry in the ledger', async () => {
    await world.server.tables.run([
      'CREATE TABLE "events" ("uuid" VARCHAR, "people_set" JSON, "other" VARCHAR NOT NULL)',
    ])
    await expect(attempt(world, { columns: COLUMNS, files: [[row('a')]] })).rejects.toThrow(Refused)
    expect(await world.rows()).toEqual([])
    expect(await world.server.tables.rows('longshore_export_runs', [])).toEqual([])
    expect(await world.leftovers()).toEqual([])
    expect(world.server.open_sessions()).toBe(0)
  })

  it('keeps the case of names, and quotes what is in them', async () => {
    const columns: OutputColumn[] = [{ name: `it's "Mixed" \\ Case`, kind: 'text' }]
    const odd = { [columns[0]!.name]: 'x' }
    await attempt(world, { columns, files: [[odd]], run: { has_custom_columns: true } })
    expect(await world.rows()).toEqual([odd])
  })

  it('says nothing of the user in what Snowflake says', async () => {
    const refused = await attempt(withConfig({ database: `exporter` }), {
      columns: COLUMNS,
      files: [],
    }).catch(String)
    expect(refused).toContain('Snowflake: ')
    expect(refused).not.toContain('exporter')
  })
})

describe('a table that is read back', () => {
  it('is the same, and its session is closed', async () => {
    const rows = [row('a'), { uuid: 'b', people_set: { z: [1, null], a: { y: 1e21, b: 'ü' } } }]
    await attempt(world, { columns: COLUMNS, files: [rows] })
    const { there, here } = await digestsOf(world, COLUMNS, rows)
    expect(there).toEqual(here)
    expect(there.size).toBe(2)
    expect(world.server.open_sessions()).toBe(0)
  })

  it('may have texts where JSON is brought', async () => {
    await world.server.tables.run(['CREATE TABLE "events" ("uuid" VARCHAR, "people_set" VARCHAR)'])
    const rows = [row('a'), { uuid: 'b', people_set: { z: 1, a: 2 } }]
    await attempt(world, { columns: COLUMNS, files: [rows] })
    const { there, here } = await digestsOf(world, COLUMNS, rows)
    expect(there).toEqual(here)
  })
})

describe('the configuration', () => {
  it.each([
    [{ account: 'evil.com/x' }, 'account'],
    [{ account: 'a b' }, 'account'],
    [{ password: null }, null],
    [{ authentication_type: 'keypair' }, null],
  ])('%j is a fault', (change, field) => {
    const config = snowflakeKind.config.parse({ ...world.config, ...change })
    expect(snowflakeKind.faults!(config)).toMatchObject({ field })
  })
})
