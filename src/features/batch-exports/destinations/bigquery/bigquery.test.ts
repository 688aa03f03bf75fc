// BigQuery against a stand-in that checks tokens, keeps jobs and runs the statements on real tables.
// @module-tag slow
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { untilTrue } from '../../../../../test/harness/until.ts'
import { attempt, contextOf, digestsOf, withFile } from '../../../../../test/stand-ins/warehouse/attempt.ts'
import { openBigQueryWorld, type BigQueryWorld } from '../../../../../test/stand-ins/bigquery/world.ts'
import type { OutputColumn } from '../../definition.ts'
import { Passing, Refused } from '../destination.ts'
import { stillOurs } from '../fixture/still-ours.ts'
import { describeDestination } from '../fixture/suite.ts'
import { bigQueryKind } from './kind.ts'

describeDestination('BigQuery', () => openBigQueryWorld())

const COLUMNS: OutputColumn[] = [
  { name: 'uuid', kind: 'text' },
  { name: 'properties', kind: 'json' },
  { name: 'team_id', kind: 'integer' },
  { name: 'timestamp', kind: 'timestamp' },
]
const row = (uuid: string) => ({
  uuid,
  properties: { nested: { deep: [1, null] } },
  team_id: 7,
  timestamp: '2024-03-01T10:00:00.123456Z',
})

let world: BigQueryWorld
beforeEach(async () => {
  world = await openBigQueryWorld()
})
afterEach(async () => {
  await world.close()
})

/** With a configuration of its own, at the same server. */
const withConfig = (config: Record<string, unknown>) => ({ ...world, config: { ...world.config, ...config } })
const secrets = () => bigQueryKind.secrets.map((key) => String(world.config[key]))

describe('the table', () => {
  it.each([
    [false, 'STRING'],
    [true, 'JSON'],
  ])('is kept by day; with use_json_type %s JSON is a %s', async (use_json_type, type) => {
    await attempt(withConfig({ use_json_type }), { columns: COLUMNS, files: [[row('a')]] })
    expect(world.server.definitionOf('events')).toMatchObject({
      schema: {
        fields: [
          { name: 'uuid', type: 'STRING' },
          { name: 'properties', type },
          { name: 'team_id', type: 'INT64' },
          { name: 'timestamp', type: 'TIMESTAMP' },
        ],
      },
      timePartitioning: { type: 'DAY', field: 'timestamp' },
    })
    expect(await world.rows()).toEqual([row('a')])
  })

  it('of the user may have other types', async () => {
    await world.server.createTable('events', [
      { name: 'UUID', type: 'STRING' },
      { name: 'properties', type: 'JSON' },
      { name: 'team_id', type: 'STRING' },
      { name: 'timestamp', type: 'TIMESTAMP' },
    ])
    await attempt(world, { columns: COLUMNS, files: [[row('a')]] })
    const { uuid, ...rest } = row('a')
    expect(await world.rows()).toEqual([{ UUID: uuid, ...rest, team_id: '7' }])
  })

  it('holds the longest form of a session', async () => {
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
      const run = { model: 'sessions' as const, id: `0192c0de-0000-7000-8000-00000000000${minute}` }
      await attempt(world, { columns, files: [[session(minute)]], run })
    }
    expect(await world.rows()).toEqual([session(3)])
  })

  it('without what tells persons apart is refused before anything is sent', async () => {
    await world.server.createTable('events', [{ name: 'distinct_id', type: 'STRING' }])
    const columns: OutputColumn[] = [{ name: 'distinct_id', kind: 'text' }]
    const refused = attempt(world, { columns, files: [[{ distinct_id: 'a' }]], run: { model: 'persons' } })
    await expect(refused).rejects.toThrow(Refused)
    await expect(refused).rejects.toThrow('team_id')
    expect(await world.rows()).toEqual([])
    expect(await world.leftovers()).toEqual([])
  })
})

describe('a run', () => {
  it('of several files is one, and its entry in the ledger says how long it is', async () => {
    world.server.dawdle(2)
    expect(await attempt(world, { columns: COLUMNS, files: [[row('a'), row('b')], [row('c')]] })).toEqual({
      rows: 3,
      files: [],
    })
    expect((await world.rows()).map(({ uuid }) => String(uuid)).toSorted()).toEqual(['a', 'b', 'c'])
    const [entry] = await world.server.tables.rows('longshore_export_runs', [])
    expect(entry).toMatchObject({
      run_id: '0192c0de-0000-7000-8000-000000000001',
      table_name: 'events',
      rows: 3,
    })
  })

  it('whose script failed can be tried again, under another job id', async () => {
    const { open } = await world.kind.load()
    const first = await open(contextOf(world, { columns: COLUMNS }))
    await world.server.tables.run(['ALTER TABLE events RENAME TO gone'])
    await expect(first.finish(stillOurs)).rejects.toThrow(Refused)
    await first.abort()
    await world.server.tables.run(['ALTER TABLE gone RENAME TO events'])
    await attempt(world, { columns: COLUMNS, files: [[row('a')]], run: { attempt: 2 } })
    expect(await world.rows()).toEqual([row('a')])
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

  it('that is cancelled while its script runs asks BigQuery to stop it', async () => {
    const controller = new AbortController()
    const context = contextOf(world, { columns: COLUMNS, signal: controller.signal })
    const delivery = await (await world.kind.load()).open(context)
    world.server.dawdle(1000)
    const finished = delivery.finish(stillOurs)
    await untilTrue(() => world.server.questions_after_jobs() > 0)
    controller.abort(new Error('cancelled'))
    await expect(finished).rejects.toThrow('cancelled')
    world.server.dawdle(0)
    await delivery.abort()
    expect(world.server.asked_to_stop).toEqual([`longshore_${context.run.id}_0`])
    expect(await world.leftovers()).toEqual([])
  })

  it('takes names as they are, whatever is in them', async () => {
    const columns: OutputColumn[] = [{ name: "it's <b>", kind: 'text' }]
    const odd = { "it's <b>": 'x' }
    await attempt(world, { columns, files: [[odd]], run: { has_custom_columns: true } })
    expect(await world.rows()).toEqual([odd])
    const bad = [{ name: 'a`; DROP TABLE events; --', kind: 'text' as const }]
    const refused = attempt(world, {
      columns: bad,
      files: [],
      run: { has_custom_columns: true, id: 'other' },
    })
    await expect(refused).rejects.toThrow(Refused)
    expect(await world.rows()).toEqual([odd])
  })
})

describe('errors', () => {
  it.each([
    ['/queries', 403, 'accessDenied', Refused],
    ['/queries', 404, 'notFound', Refused],
    ['/tables', 400, 'invalid', Refused],
    ['/jobs', 403, 'rateLimitExceeded', Passing],
    ['/jobs', 403, 'quotaExceeded', Passing],
    ['/upload', 503, 'backendError', Passing],
    ['/datasets', 429, 'rateLimitExceeded', Passing],
  ])('%s answers %i %s', async (path, status, reason, kind) => {
    world.server.failNext(path, status, reason, `Not for ${String(world.config.client_email)}`)
    const failed = await attempt(world, { columns: COLUMNS, files: [[row('a')]] }).catch(
      (error: unknown) => error,
    )
    expect(failed).toBeInstanceOf(kind)
    for (const secret of secrets()) expect(String(failed)).not.toContain(secret)
    expect(await world.rows()).toEqual([])
    expect(await world.leftovers()).toEqual([])
  })

  it('two transactions that met pass', async () => {
    const message = 'Transaction is aborted due to concurrent update against table events'
    world.server.failNext('/queries', 400, 'invalidQuery', message)
    await expect(attempt(world, { columns: COLUMNS, files: [] })).rejects.toThrow(Passing)
  })

  it.each([
    [{ dataset_id: 'nowhere' }, 'there is no dataset nowhere'],
    [{ project_id: 'other-1' }, 'Access Denied: Project other-1'],
    [{ private_key: 'no key at all' }, 'The private key cannot be read'],
    [{ client_email: 'else@example.com' }, 'not accepted (invalid_grant)'],
  ])('%j: %s', async (config, message) => {
    const place = withConfig(config)
    const refused = attempt(place, { columns: COLUMNS, files: [] })
    await expect(refused).rejects.toThrow(Refused)
    await expect(refused).rejects.toThrow(message)
  })

  it('nobody at the token address is told from a refusal', async () => {
    const unreachable = attempt(withConfig({ token_uri: 'http://127.0.0.1:9/token' }), {
      columns: COLUMNS,
      files: [],
    })
    await expect(unreachable).rejects.toThrow('The token address cannot be reached')
  })
})

describe('a sweep', () => {
  it('drops the stages of the run, and no table of anybody else that is called alike', async () => {
    const context = contextOf(world, { columns: COLUMNS, run: { attempt: 3 } })
    const stage = `stage_events_${context.run.id.replaceAll('-', '')}`
    const foreign = ['stage_events_backup', `${stage}_4`, `${stage}_x`, `${stage}_1_copy`]
    for (const name of [...foreign, `${stage}_1`, `${stage}_3`])
      await world.server.createTable(name, [{ name: 'a', type: 'STRING' }])
    const { sweep } = await world.kind.load()
    const removed: string[] = []
    for await (const { name } of sweep!({ ...context, runs: [{ ...context.run, uploads: [] }] })) {
      removed.push(name)
    }
    expect(removed).toEqual([`${stage}_1`, `${stage}_3`])
    expect((await world.leftovers()).toSorted()).toEqual(foreign.toSorted())
  })
})

describe('a table that is read back', () => {
  it.each([false, true])('is the same with use_json_type %s', async (use_json_type) => {
    const rows = [row('a'), { ...row('b'), properties: { z: 1, a: { y: 1e21, b: 'ü' } } }]
    await attempt(withConfig({ use_json_type }), { columns: COLUMNS, files: [rows] })
    const { there, here } = await digestsOf(withConfig({ use_json_type }), COLUMNS, rows)
    expect(there).toEqual(here)
    expect(there.size).toBe(2)
  })

  it('is compared in the columns whose types hold the same values', async () => {
    const columns: OutputColumn[] = [
      { name: 'uuid', kind: 'text' },
      { name: 'properties', kind: 'json' },
      { name: 'team_id', kind: 'integer' },
      { name: 'flag', kind: 'boolean' },
    ]
    const rows = [{ uuid: 'a', properties: { b: 1, a: 2 }, team_id: 7, flag: true }]
    const types = columns.map(({ name }) => ({ name: name.toUpperCase(), type: 'STRING' }))
    await world.server.createTable('events', types)
    await attempt(world, { columns, files: [rows] })
    const { inspect } = await world.kind.load()
    const { table } = await inspect!(contextOf(world, { columns }))
    expect(table!.columns.map(({ name }) => name)).toEqual(['uuid', 'properties', 'team_id'])
    const { there, here } = await digestsOf(world, columns, rows)
    expect(there).toEqual(here)
  })
})

describe('the configuration', () => {
  it.each([
    ['project_id', '..'],
    ['project_id', 'a/b'],
    ['dataset_id', 'a-b'],
    ['dataset_id', '../x'],
    ['table_id', 'a`b'],
    ['table_id', '../events'],
    ['token_uri', 'ftp://example.com'],
  ])('%s may not be %s', (key, value) => {
    const { success, error } = bigQueryKind.config.safeParse({ ...world.config, [key]: value })
    expect(success).toBe(false)
    expect(error?.issues[0]?.path).toEqual([key])
  })
})
