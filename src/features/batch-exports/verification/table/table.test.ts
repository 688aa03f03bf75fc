// Tables against the ledger: every fault, what other runs and other exports have to do with it, and tables of every kind.
// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { MemoryTables } from '../../../../../test/stand-ins/memory-tables.ts'
import { Unreachable } from '../../destinations/destination.ts'
import { HOUR_MS } from '../../fixture/clock.ts'
import { openReader, replaceTables, tableDestination } from '../fixture/memory-world.ts'
import { deliverHours, neighbourOf, openWorkbench, type Workbench } from '../../fixture/workbench.ts'

describe('a table', () => {
  let place: MemoryTables
  let restore: () => void
  let first: Workbench
  let bench: Workbench
  beforeAll(async () => {
    ;({ place, restore } = replaceTables())
    first = await openWorkbench({ OUTBOUND_ALLOW: '127.0.0.1' }, { openReader })
  })
  afterAll(async () => {
    await first.app.close()
    restore()
  })
  beforeEach(async () => {
    bench = await neighbourOf(first)
  })
  afterEach(async () => {
    place.onRead = place.onFinished = async () => {}
    await bench.deleteExports()
  })

  const nameOf = ({ config }: { config: Record<string, unknown> }) =>
    String(config.table_name ?? config.table_id)
  const rowsIn = (destination: { config: Record<string, unknown> }) =>
    place.tables.get(nameOf(destination))!.rows
  const kindsOf = ({ problems }: { problems: readonly { kind: string }[] }) =>
    problems.map(({ kind }) => kind)

  async function deliver(fields: object = {}, type?: string) {
    const destination = tableDestination(bench, type)
    const id = await bench.create(destination, fields)
    const uuids = await deliverHours(bench, 2)
    return { id, uuids, rows: rowsIn(destination), destination }
  }

  it('may spell JSON in its own way, but not say something else', async () => {
    const { id, rows } = await deliver()
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', rows: 6 })
    const properties = rows[0]!.properties as { nested: { deep: unknown[] } }
    properties.nested.deep[1] = 'x'
    const message = 'The row has another value than was delivered in properties.'
    expect(await bench.verify(id)).toMatchObject({ problems: [{ kind: 'changed_row', message }] })
  })

  it('is looked at in the hours of a run’s events, whichever run brought them', async () => {
    const id = await bench.create(tableDestination(bench))
    const at = bench.hour(-30)
    await bench.capture(['late'], at)
    await bench.pass()
    const [late] = await bench.capture(['later'], at)
    const [own] = await bench.capture(['own'])
    await bench.pass()
    const { rows } = [...place.tables.values()].at(-1)!
    for (const uuid of [late, own])
      rows.splice(
        rows.findIndex((row) => row.uuid === uuid),
        1,
      )
    const [run] = await bench.runs(id)
    // The first run has an event of the late one's hour, and none of the other's.
    expect(await bench.verify(id, { run: run!.id })).toMatchObject({
      runs: 1,
      problems: [{ kind: 'missing_row', uuid: late }],
      problems_count: 1,
    })
    expect(kindsOf(await bench.verify(id))).toEqual(['missing_row', 'missing_row'])
  })

  it('a doubled row is found although its interval was backfilled later', async () => {
    const early = await bench.capture(['early', 'earlier'])
    await bench.pass()
    const destination = tableDestination(bench)
    const id = await bench.create(destination)
    const own = await bench.capture(['own'])
    await bench.pass()
    await bench.act(id, 'backfill', { start_at: bench.hour(-3), end_at: bench.hour(0) })
    await bench.work()
    const rows = rowsIn(destination)
    expect(rows.map(({ uuid }) => String(uuid)).toSorted()).toEqual([...early, ...own].toSorted())
    rows.push({ ...rows.find(({ uuid }) => uuid === own[0])! })
    expect(await bench.verify(id)).toMatchObject({ problems: [{ kind: 'doubled_row', uuid: own[0] }] })
  })

  it('is judged by what has got through, though the clock was set back since', async () => {
    const { id, rows, uuids } = await deliver()
    bench.app.advance(-2 * HOUR_MS)
    rows.splice(
      rows.findIndex((row) => row.uuid === uuids[0]),
      1,
    )
    const result = await bench.verify(id)
    bench.app.advance(2 * HOUR_MS)
    expect(result).toMatchObject({ problems: [{ kind: 'missing_row', uuid: uuids[0] }], problems_count: 1 })
  })

  it('that is gone lacks every row; a hundred of them are named, all are counted', async () => {
    const destination = tableDestination(bench)
    const id = await bench.create(destination)
    await bench.capture(Array.from({ length: 130 }, (_, index) => `event ${index}`))
    await bench.pass()
    place.tables.delete(nameOf(destination))
    const { problems, ...result } = await bench.verify(id)
    expect(result).toMatchObject({ verdict: 'problems', problems_count: 130 })
    expect(problems).toHaveLength(100)
    expect(new Set(kindsOf({ problems }))).toEqual(new Set(['missing_row']))
  })

  it('rows of a run that is at work, or has just been, are neither missing nor strays', async () => {
    const { id } = await deliver()
    await bench.settle()
    place.onFinished = async () => {
      place.onFinished = async () => {}
      // They are visible, and the run does not know yet.
      expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', rows: 6 })
    }
    await deliverHours(bench, 1)
    place.onRead = async (what) => {
      if (what === 'rows') return
      place.onRead = async () => {}
      // A whole run between our look at the ledger and our look at the table.
      await deliverHours(bench, 1)
    }
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', problems: [], notes: [] })
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', rows: 12 })
  })

  it('rows that are being repaired are left to the verification that follows', async () => {
    const { id, rows, uuids } = await deliver()
    rows.find(({ uuid }) => uuid === uuids[0])!.event = 'tampered'
    place.onRead = async (what) => {
      if (what === 'rows') return
      place.onRead = async () => {}
      await bench.act(id, 'repair', { start_at: bench.hour(-5), end_at: bench.hour(0) })
      await bench.work()
    }
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', problems: [] })
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', rows: 6 })
  })

  it('that another export goes to, also a deleted one, has no strays; lost rows and doubles are told', async () => {
    const destination = tableDestination(bench)
    const id = await bench.create(destination)
    const other = await bench.create(destination)
    const [lost, doubled] = await deliverHours(bench, 1)
    const rows = rowsIn(destination)
    const smuggled = { ...rows[2]!, uuid: crypto.randomUUID() }
    rows.push(smuggled)
    const strays =
      'Rows that this export has not delivered were not compared: another export goes to the same table.'
    const without_strays = { verdict: 'intact', problems: [], notes: [strays] }
    expect(await bench.verify(id)).toMatchObject(without_strays)
    await bench.app.delete(`${bench.base}/${other}/`, { key: bench.key })
    expect(await bench.verify(id)).toMatchObject(without_strays)
    rows[2]!.event = 'tampered'
    const values = expect.stringMatching(/^Rows with other values than were delivered: 1\. Another export/)
    const unclear = { verdict: 'unclear', problems: [], notes: [strays, values] }
    expect(await bench.verify(id)).toMatchObject(unclear)
    const { body } = await bench.app.get(`${bench.base}/${id}/reconciliation/`, { key: bench.key })
    expect(body.verification).toMatchObject({ verdict: 'unclear', problems_count: 0 })
    rows.splice(
      rows.findIndex(({ uuid }) => uuid === lost),
      1,
    )
    rows.push({ ...rows.find(({ uuid }) => uuid === doubled)! })
    expect(kindsOf(await bench.verify(id)).toSorted()).toEqual(['doubled_row', 'missing_row'])
  })

  it('is compared as ever beside exports that have brought nothing there', async () => {
    const { id, rows, destination } = await deliver()
    const unused = await bench.create(destination)
    await bench.app.delete(`${bench.base}/${unused}/`, { key: bench.key })
    await bench.create(destination, { filters: [{ key: 'event', value: 'none', type: 'event' }] })
    await bench.pass()
    rows[0]!.event = 'tampered'
    rows.push({ ...rows[1]!, uuid: crypto.randomUUID() })
    const { verdict, problems } = await bench.verify(id)
    expect([verdict, problems.map(({ kind }) => kind).toSorted()]).toEqual([
      'problems',
      ['changed_row', 'stray_row'],
    ])
  })

  it('without a uuid is compared as a whole, on request and not after runs', async () => {
    const { id, rows } = await deliver({ hogql_query: 'SELECT event AS what, properties.n AS n FROM events' })
    await bench.settle()
    const { body } = await bench.app.get(`${bench.base}/${id}/verifications/`, { key: bench.key })
    expect(body.results[0]).toMatchObject({ trigger: 'run', verdict: 'nothing_to_verify' })
    expect(body.results[0].notes).toEqual([expect.stringMatching(/^The table has no time of the events/)])
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', rows: 6 })
    const [gone] = rows.splice(0, 1)
    const message = 'The table has 5 rows; 6 were delivered.'
    expect(await bench.verify(id)).toMatchObject({ problems: [{ kind: 'missing_row', message }] })
    rows.push(gone!, gone!)
    expect(kindsOf(await bench.verify(id))).toEqual(['stray_row'])
    rows.pop()
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact' })
    rows[0]!.what = 'tampered'
    expect(kindsOf(await bench.verify(id))).toEqual(['changed_row'])
  })

  it('keeps rows of earlier columns beside those of later ones', async () => {
    const { id, rows } = await deliver({ hogql_query: 'SELECT uuid, timestamp, event AS what FROM events' })
    const wider = { hogql_query: 'SELECT uuid, timestamp, event AS what, distinct_id FROM events' }
    expect((await bench.app.patch(`${bench.base}/${id}/`, wider, { key: bench.key })).status).toBe(200)
    await deliverHours(bench, 1)
    await bench.settle()
    expect(rows.filter((row) => 'distinct_id' in row)).toHaveLength(3)
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', rows: 9 })
    // Its own matter: it may have a default for what no run has brought.
    rows.find((row) => !('distinct_id' in row))!.distinct_id = 'anybody'
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', rows: 9, notes: [] })
    rows.at(-1)!.distinct_id = 'smuggled'
    const message = 'The row has another value than was delivered in distinct_id.'
    expect(await bench.verify(id)).toMatchObject({ problems: [{ message }], problems_count: 1 })
  })

  it('keeps rows that do not say whose they are beside those that do', async () => {
    const { id, rows } = await deliver()
    const narrower = { hogql_query: 'SELECT uuid, timestamp, event FROM events' }
    expect((await bench.app.patch(`${bench.base}/${id}/`, narrower, { key: bench.key })).status).toBe(200)
    await deliverHours(bench, 1)
    await bench.settle()
    expect(rows.filter((row) => 'team_id' in row)).toHaveLength(6)
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', rows: 9, problems: [] })
    const [run] = await bench.runs(id)
    expect(await bench.verify(id, { run: run!.id })).toMatchObject({ verdict: 'intact', problems: [] })
    rows.find((row) => !('team_id' in row))!.event = 'tampered'
    expect(kindsOf(await bench.verify(id))).toEqual(['changed_row'])
  })

  it.each(['BigQuery', 'Snowflake'])('of %s, by its own columns', async (type) => {
    const { id, rows, uuids } = await deliver({}, type)
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', runs: 2, rows: 6 })
    const [run] = await bench.runs(id)
    expect(await bench.verify(id, { run: run!.id })).toMatchObject({ verdict: 'intact', runs: 1 })
    rows.find(({ uuid }) => uuid === uuids[4])!.team_id = null
    expect(await bench.verify(id)).toMatchObject({ problems: [{ uuid: uuids[4] }] })
  })

  it('that the export no longer goes to is read as long as its secrets are for it', async () => {
    const { id, rows, destination } = await deliver()
    const change = async (config: object) => {
      const reply = await bench.app.patch(
        `${bench.base}/${id}/`,
        { destination: { config } },
        { key: bench.key },
      )
      expect(reply.status).toBe(200)
    }
    await change({ table_name: 'elsewhere' })
    rows.pop()
    expect(kindsOf(await bench.verify(id))).toEqual(['missing_row'])
    const { user, password } = destination.config
    await change({ port: 6543, user, password })
    expect(await bench.verify(id)).toMatchObject({
      verdict: 'nothing_to_verify',
      problems: [],
      notes: [expect.stringMatching(/^What went to postgres:\/\/127\.0\.0\.1:5432.* was not read back/)],
    })
  })

  it('of persons cannot be compared, and the result says so', async () => {
    const { id } = await deliver({ model: 'persons' })
    expect(await bench.verify(id)).toMatchObject({
      verdict: 'nothing_to_verify',
      notes: [expect.stringMatching(/^Persons and sessions change/)],
    })
  })

  it('that cannot be reached is told, without secrets, and the next export follows', async () => {
    const { id, destination } = await deliver()
    const other = await bench.create(tableDestination(bench))
    await deliverHours(bench, 1)
    await bench.settle()
    place.onRead = async (_what, table) => {
      if (table !== nameOf(destination)) return
      throw new Unreachable(`no answer for ${String(destination.config.password)}`)
    }
    await bench.app.post(`${bench.base}/${id}/verify/`, {}, { key: bench.key })
    expect(await bench.verify(other)).toMatchObject({ verdict: 'intact', rows: 3 })
    expect(await bench.verify(id)).toMatchObject({
      status: 'Completed',
      verdict: 'unreachable',
      problems: [
        {
          kind: 'unreachable',
          message: 'The destination could not be read: no answer for ***',
          what_to_do: `Test the destination: POST ${bench.base}/${id}/run_test_step/. Then verify again: POST ${bench.base}/${id}/verify/.`,
        },
      ],
      problems_count: 1,
    })
  })
})
