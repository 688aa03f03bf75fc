// Databricks against a stand-in that checks tokens, keeps a volume and runs the statements on real tables.
// @module-tag slow
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { untilTrue } from '../../../../../test/harness/until.ts'
import { attempt, contextOf, digestsOf, withFile } from '../../../../../test/stand-ins/warehouse/attempt.ts'
import { openDatabricksWorld, type DatabricksWorld } from '../../../../../test/stand-ins/databricks/world.ts'
import type { OutputColumn } from '../../definition.ts'
import { Passing, Refused, type Delivery } from '../destination.ts'
import { stillOurs } from '../fixture/still-ours.ts'
import { describeDestination } from '../fixture/suite.ts'
import { databricksKind } from './kind.ts'

describeDestination('Databricks', () => openDatabricksWorld({ use_automatic_schema_evolution: false }))

const COLUMNS: OutputColumn[] = [
  { name: 'uuid', kind: 'text' },
  { name: 'properties', kind: 'json' },
]
const row = (uuid: string) => ({ uuid, properties: { a: [1, null, 'ü'] } })
/** Without anything that tells rows apart. */
const CUSTOM: OutputColumn[] = [{ name: 'event', kind: 'text' }]
const custom = [[{ event: 'a' }, { event: 'a' }], [{ event: 'b' }]]
const has_custom_columns = true

let world: DatabricksWorld
beforeEach(async () => {
  world = await openDatabricksWorld()
})
afterEach(async () => {
  await world.close()
})

const withConfig = (config: Record<string, unknown>) => ({ ...world, config: { ...world.config, ...config } })
const typesOf = async () => {
  const found = await world.server.tables.run([
    "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'events'",
  ])
  return Object.fromEntries(found.map(({ column_name, data_type }) => [column_name, data_type]))
}

describe('the table', () => {
  it.each([
    [true, 'JSON'],
    [false, 'VARCHAR'],
  ])('with use_variant_type %s has JSON as %s', async (use_variant_type, type) => {
    await attempt(withConfig({ use_variant_type }), { columns: COLUMNS, files: [[row('a')]] })
    expect(await typesOf()).toEqual({ uuid: 'VARCHAR', properties: type })
    expect(await world.rows()).toEqual([row('a')])
  })

  it('gets the columns that it lacks when it may evolve', async () => {
    await world.server.tables.run([
      'CREATE TABLE "events" ("uuid" VARCHAR)',
      `INSERT INTO "events" VALUES ('old')`,
    ])
    const logged: string[] = []
    await attempt(world, { columns: COLUMNS, files: [[row('a')]], logged })
    expect(await world.rows()).toEqual([{ uuid: 'old', properties: null }, row('a')])
    expect(logged).toEqual([])
  })
})

describe('a run', () => {
  it('waits for statements that take their time', async () => {
    world.server.dawdle(4)
    expect(await attempt(world, { columns: COLUMNS, files: [[row('a')], [row('b')]] })).toEqual({
      rows: 2,
      files: [],
    })
    expect((await world.rows()).length).toBe(2)
    const [entry] = await world.server.tables.rows('longshore_export_runs', [])
    expect(entry).toMatchObject({ table_name: 'events', rows: 2 })
  })

  it('of rows without a key is there once although the answer to it was lost', async () => {
    const merged = 'MERGE INTO `main`.`analytics`.`longshore_export_runs`'
    world.server.failNext(merged, 'TEMPORARILY_UNAVAILABLE', 'try again')
    const lost = attempt(world, { columns: CUSTOM, files: custom, run: { has_custom_columns } })
    await expect(lost).rejects.toThrow(Passing)
    expect((await world.rows()).length).toBe(3)
    await attempt(world, { columns: CUSTOM, files: custom, run: { has_custom_columns, attempt: 2 } })
    expect(await world.rows()).toEqual(custom.flat())
    expect(await world.leftovers()).toEqual([])
  })

  it('of rows without a key never loses files that a late worker has dropped', async () => {
    const { open } = await world.kind.load()
    const worker = (number: number) =>
      open(contextOf(world, { columns: CUSTOM, run: { has_custom_columns, attempt: number } }))
    const late = await worker(1)
    await attempt(
      {
        ...world,
        kind: {
          ...world.kind,
          load: async () => ({ ...(await world.kind.load()), open: () => droppedBy(late, worker(2)) }),
        },
      },
      { columns: CUSTOM, files: custom },
    ).then(
      () => expect.unreachable(),
      (error: unknown) => expect(error).toBeInstanceOf(Passing),
    )
    expect(await world.rows()).toEqual([])
    await attempt(world, { columns: CUSTOM, files: custom, run: { has_custom_columns, attempt: 3 } })
    expect(await world.rows()).toEqual(custom.flat())
  })

  it('that is cancelled while a statement runs asks Databricks to stop it', async () => {
    const controller = new AbortController()
    const context = contextOf(world, { columns: COLUMNS, signal: controller.signal })
    const delivery = await (await world.kind.load()).open(context)
    world.server.dawdle(1000)
    world.cuts!.reset()
    const finished = delivery.finish(stillOurs)
    // The second exchange is the question after the statement that the first has started.
    await untilTrue(() => world.cuts!.count() > 1)
    controller.abort(new Error('cancelled'))
    await expect(finished).rejects.toThrow('cancelled')
    await delivery.abort()
    expect(world.server.asked_to_stop.length).toBe(1)
    expect(await world.rows()).toEqual([])
    expect(await world.leftovers()).toEqual([])
  })
})

/** What the second worker has sent is dropped by the first, before the second can take it over. */
async function droppedBy(late: Delivery, opening: Promise<Delivery>): Promise<Delivery> {
  const delivery = await opening
  return {
    ...delivery,
    async finish() {
      await late.abort()
      return await delivery.finish(stillOurs)
    },
  }
}

describe('a sweep', () => {
  const sweep = async (...ids: string[]) => {
    const { run, ...context } = contextOf(world, { columns: COLUMNS })
    const removed: string[] = []
    const runs = ids.map((id) => ({ ...run, id, uploads: [] }))
    for await (const { name } of (await world.kind.load()).sweep!({ ...context, runs })) removed.push(name)
    return removed
  }

  it('finds nothing where there is no volume', async () => {
    expect(await sweep('a')).toEqual([])
  })

  it('drops the folder of the run with all that is in it, and no other', async () => {
    const { open } = await world.kind.load()
    for (const id of ['a', 'a2']) {
      const delivery = await open(contextOf(world, { columns: COLUMNS, run: { id } }))
      await withFile([row('x')], (file) => delivery.write(file))
    }
    const volume = '/Volumes/main/analytics/longshore_stage'
    expect(await sweep('a', 'never begun')).toEqual([`${volume}/a`])
    expect(await world.leftovers()).toEqual(
      ['', '/1', '/1/part-0.jsonl.gz'].map((rest) => `${volume}/a2${rest}`),
    )
  })
})

describe('errors', () => {
  it.each([
    ['BAD_REQUEST', '[DELTA_CONCURRENT_APPEND] files were added', Passing],
    ['TEMPORARILY_UNAVAILABLE', 'the warehouse is starting', Passing],
    ['BAD_REQUEST', '[TABLE_OR_VIEW_NOT_FOUND] no such table', Refused],
    ['PERMISSION_DENIED', 'not allowed', Refused],
  ])('%s %s', async (code, message, kind) => {
    world.server.failNext('MERGE INTO', code, `${message} for ${String(world.config.client_id)}`)
    const failed = await attempt(world, { columns: COLUMNS, files: [[row('a')]] }).catch(
      (error: unknown) => error,
    )
    expect(failed).toBeInstanceOf(kind)
    expect(String(failed)).toContain(message)
    expect(String(failed)).not.toContain(world.config.client_id)
    expect(await world.rows()).toEqual([])
    expect(await world.leftovers()).toEqual([])
  })

  it('a warehouse that is not there is refused', async () => {
    const refused = attempt(withConfig({ http_path: '/sql/1.0/warehouses/zzz' }), {
      columns: COLUMNS,
      files: [],
    })
    await expect(refused).rejects.toThrow('No such warehouse')
  })
})

describe('a table that is read back', () => {
  it.each([true, false])('is the same with use_variant_type %s', async (use_variant_type) => {
    const rows = [row('a'), { uuid: 'b', properties: { z: 1, a: { y: 2.5, b: 'ü' } } }]
    await attempt(withConfig({ use_variant_type }), { columns: COLUMNS, files: [rows] })
    const { there, here } = await digestsOf(withConfig({ use_variant_type }), COLUMNS, rows)
    expect(there).toEqual(here)
    expect(there.size).toBe(2)
  })
})

describe('the configuration', () => {
  it.each([
    ['http_path', '/sql/protocolv1/o/1/2'],
    ['http_path', '/sql/1.0/warehouses/../x'],
    ['catalog', '..'],
    ['schema', 'a/b'],
    ['schema', 'a`b'],
    ['table_name', 'a.b'],
    ['server_hostname', 'https://example.com'],
  ])('%s may not be %s', (key, value) => {
    const { success, error } = databricksKind.config.safeParse({ ...world.config, [key]: value })
    expect(success).toBe(false)
    expect(error?.issues[0]?.path).toEqual([key])
  })
})
