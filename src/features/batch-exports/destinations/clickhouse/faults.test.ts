// What errors of ClickHouse become, and what is not even called.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { COLUMNS, row, send } from '../../../../../test/stand-ins/clickhouse/attempt.ts'
import { ClickHouseError } from '../../../../../test/stand-ins/clickhouse/errors.ts'
import { openClickHouseWorld, type ClickHouseWorld } from '../../../../../test/stand-ins/clickhouse/world.ts'
import { contextOf } from '../../../../../test/stand-ins/warehouse/attempt.ts'
import { Passing, Refused, Unreachable } from '../destination.ts'

let world: ClickHouseWorld
beforeEach(async () => {
  world = await openClickHouseWorld()
})
afterEach(async () => {
  await world.close()
})
const withConfig = (config: Record<string, unknown>) => ({ ...world, config: { ...world.config, ...config } })

describe('errors', () => {
  it.each([
    [
      241,
      'MEMORY_LIMIT_EXCEEDED',
      'ATTACH',
      Passing,
      'needs more memory than it may have: raise max_memory_usage',
    ],
    [159, 'TIMEOUT_EXCEEDED', 'NOT IN', Passing, 'took longer than its time limit'],
    [202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'FORMAT Parquet', Passing, 'too many statements are running'],
    [243, 'NOT_ENOUGH_SPACE', 'FORMAT Parquet', Passing, 'the disk is full'],
    [60, 'UNKNOWN_TABLE', 'ATTACH', Passing, 'a table is gone'],
    [164, 'READONLY', 'CREATE TABLE', Refused, 'This ClickHouse user may only read. Choose one who'],
    [497, 'ACCESS_DENIED', 'CREATE TABLE', Refused, 'Grant it to the user, or choose another'],
    [516, 'AUTHENTICATION_FAILED', 'CREATE TABLE', Refused, 'does not accept this user with this password'],
    [253, 'REPLICA_ALREADY_EXISTS', 'CREATE TABLE', Refused, 'ClickHouse: Said with ***.'],
  ] as const)('%i %s at %s', async (code, name, statement, kind, message) => {
    const said = `Said with ${String(world.config.password)}`
    world.server.failNext(statement, new ClickHouseError(code, name, said))
    const failed = await send(world, [row('a')]).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(kind)
    expect(String(failed)).toContain(message)
    expect(String(failed)).not.toMatch(/DB::Exception|version 26/)
    expect(String(failed)).not.toContain(world.config.password)
    expect(await world.rows()).toEqual([])
    expect(await world.leftovers()).toEqual([])
  })

  it.each([
    [
      376,
      'Cannot parse uuid topsecret: Cannot parse UUID from String: read stage: ColumnData: column: plan: While executing',
      'a value does not fit the type of the column "plan" (code 376). Change the type',
    ],
    [
      6,
      "Cannot parse string 'topsecret' as Int64: while converting column `the plan` from type String to type Int64",
      'a value does not fit the type of the column "the plan" (code 6). Change the type',
    ],
    [
      41,
      "Cannot parse DateTime 'topsecret'",
      'a value does not fit the type of its column (code 41). Change the type',
    ],
    [
      469,
      "Constraint `known` for table analytics.events is violated at row 1. Column values: event = 'topsecret'",
      'a row breaks the constraint "known" of the table. Drop the constraint, or leave such events out',
    ],
    [36, "Bad value 'topsecret' of a setting", 'ClickHouse: Bad value … of a setting.'],
  ])('%i says which column, and never a value: %s', async (code, said, message) => {
    world.server.failNext('FORMAT Parquet', new ClickHouseError(code, 'TITLE', said))
    const failed = await send(world, [row('a')]).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(Refused)
    expect(String(failed)).toContain(message)
    expect(String(failed)).not.toContain('topsecret')
    expect(await world.leftovers()).toEqual([])
  })

  it.each([
    [{ status: 502, text: '<h1>Bad gateway</h1>' }, Passing, 'the server answered with status 502'],
    [{ status: 302, headers: { location: '/else' } }, Refused, 'redirects are not followed'],
    [{ status: 400, text: 'Port 9000 is for clickhouse-client program' }, Refused, 'status 400: Port 9000'],
    [
      { status: 200, text: '<h1>It works!</h1>' },
      Refused,
      'does not answer as ClickHouse does. Check the address',
    ],
  ])('what is no ClickHouse: %j', async (reply, kind, message) => {
    world.server.failNext('CREATE TABLE', reply)
    const failed = send(world, [row('a')])
    await expect(failed).rejects.toThrow(kind)
    await expect(failed).rejects.toThrow(message)
  })

  it('a proxy that says when to come back is heard', async () => {
    world.server.failNext('CREATE TABLE', { status: 503, headers: { 'retry-after': '7' } })
    await expect(send(world, [])).rejects.toMatchObject({ retry_after_ms: 7000 })
  })

  it('plain http, unless the server allows it', async () => {
    const place = { ...world, settings: { ...world.settings, allow_plaintext: false } }
    const { open, steps } = await place.kind.load()
    const context = contextOf(place, { columns: COLUMNS })
    await expect(open(context)).rejects.toThrow('ClickHouse is called over https only')
    await expect(steps[0]!.run(context)).rejects.toThrow(Refused)
    expect(world.server.statements).toEqual([])
  })

  it('nobody there', async () => {
    const nobody = send(withConfig({ url: 'http://127.0.0.1:9' }), [row('a')])
    await expect(nobody).rejects.toThrow(Unreachable)
    await expect(nobody).rejects.toThrow('ClickHouse cannot be reached (ECONNREFUSED)')
  })

  it('no such database, in a run and in the test of the destination', async () => {
    const place = withConfig({ database: 'nowhere' })
    const message = 'There is no database nowhere in ClickHouse. Create it, or choose another.'
    await expect(send(place, [row('a')])).rejects.toThrow(new Refused(message))
    const { steps } = await place.kind.load()
    const [, database] = steps
    await expect(database!.run(contextOf(place, { columns: [] }))).rejects.toThrow(new Refused(message))
  })

  it.each(['system.dropped_tables', 'system.mutations'])(
    'the right to read %s, which only some runs need, is missed by the test of the destination',
    async (table) => {
      const denied = new ClickHouseError(
        497,
        'ACCESS_DENIED',
        `necessary to have the grant SELECT ON ${table}`,
      )
      world.server.failNext(table, denied)
      const { steps } = await world.kind.load()
      const tried = steps[2]!.run(contextOf(world, { columns: [] }))
      await expect(tried).rejects.toThrow(`SELECT ON ${table}. Grant it to the user`)
      expect(await world.leftovers()).toEqual([])
    },
  )
})
