// Rows that came without some of the table's columns, and rows that say no project.
// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { MemoryTables } from '../../../../../test/stand-ins/memory-tables.ts'
import { deliverHours, neighbourOf, openWorkbench, type Workbench } from '../../fixture/workbench.ts'
import { openReader, replaceTables, tableDestination } from '../fixture/memory-world.ts'

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
afterEach(() => bench.deleteExports())

async function deliver(fields: object = {}) {
  const destination = tableDestination(bench)
  const id = await bench.create(destination, fields)
  const uuids = await deliverHours(bench, 1)
  return { id, uuids, destination, rows: place.tables.get(String(destination.config.table_name))!.rows }
}

async function narrow(id: string, hogql_query: string): Promise<string[]> {
  const reply = await bench.app.patch(`${bench.base}/${id}/`, { hogql_query }, { key: bench.key })
  expect(reply.status).toBe(200)
  return deliverHours(bench, 1)
}

const kindsOf = ({ problems }: { problems: readonly { kind: string }[] }) => problems.map(({ kind }) => kind)

describe('a column that a run has not brought', () => {
  const WIDE = 'SELECT uuid, timestamp, event AS what, distinct_id AS who FROM events'
  const NARROW = 'SELECT uuid, timestamp, event AS what FROM events'

  it('may hold anything in its rows; what was brought is compared in all of them', async () => {
    const { id, rows } = await deliver({ hogql_query: WIDE })
    const [uuid] = await narrow(id, NARROW)
    const narrow_row = rows.find((row) => row.uuid === uuid)!
    expect(narrow_row).not.toHaveProperty('who')
    for (const row of rows.slice(3)) row.who = 'the default'
    const intact = { verdict: 'intact', rows: 6, problems: [], notes: [] }
    expect(await bench.verify(id)).toMatchObject(intact)
    const [, run] = await bench.runs(id)
    expect(await bench.verify(id, { run: run!.id })).toMatchObject({ ...intact, rows: 3 })
    narrow_row.what = 'tampered'
    rows[0]!.who = null
    const { problems } = await bench.verify(id)
    expect(problems.map(({ message }) => message).toSorted()).toEqual([
      'The row has another value than was delivered in what.',
      'The row has another value than was delivered in who.',
    ])
  })

  it('is not compared at all where rows have no uuid, and the result says so', async () => {
    const { id, rows } = await deliver({
      hogql_query: 'SELECT event AS what, distinct_id AS who FROM events',
    })
    await narrow(id, 'SELECT event AS what FROM events')
    for (const row of rows.slice(3)) row.who = 'the default'
    const notes = [expect.stringMatching(/^Not compared: who\. Some runs have not delivered it/)]
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', rows: 6, problems: [], notes })
    rows[4]!.what = 'tampered'
    expect(kindsOf(await bench.verify(id))).toEqual(['changed_row'])
  })
})

describe('a row without a team_id', () => {
  it('that no run has delivered is a stray; one of another project is not ours to judge', async () => {
    const { id, rows } = await deliver()
    const uuid = crypto.randomUUID()
    rows.push({ ...rows[0]!, uuid: crypto.randomUUID(), team_id: 987_654 })
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', problems: [], notes: [] })
    rows.push({ ...rows[0]!, uuid, team_id: null })
    const problem = {
      kind: 'stray_row',
      uuid,
      run: null,
      what_to_do: expect.stringContaining('delete it from the table'),
    }
    const found = { verdict: 'problems', problems: [problem], problems_count: 1, notes: [] }
    expect(await bench.verify(id)).toMatchObject(found)
    const [run] = await bench.runs(id)
    expect(await bench.verify(id, { run: run!.id })).toMatchObject(found)
  })

  it('is a delivered one that has lost it, or a copy of one', async () => {
    const { id, rows, uuids } = await deliver()
    rows.push({ ...rows.find((row) => row.uuid === uuids[0])!, team_id: null })
    rows.find((row) => row.uuid === uuids[1])!.team_id = null
    const { problems } = await bench.verify(id)
    expect(problems.map(({ kind, uuid }) => `${kind} ${String(uuid)}`).toSorted()).toEqual([
      `changed_row ${uuids[1]}`,
      `doubled_row ${uuids[0]}`,
    ])
  })

  it('may be of another export that goes to the same table', async () => {
    const { id, rows, destination, uuids } = await deliver()
    const other = await neighbourOf(first)
    const fields = { hogql_query: 'SELECT uuid, timestamp, event FROM events' }
    await other.create(destination, fields)
    await deliverHours(other, 1)
    expect(rows.filter((row) => !('team_id' in row))).toHaveLength(3)
    const notes = ['Rows without a team_id were not compared: another export goes to the same table.']
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', rows: 3, problems: [], notes })
    rows.find((row) => row.uuid === uuids[2])!.team_id = null
    expect(await bench.verify(id)).toMatchObject({
      problems: [{ kind: 'missing_row', uuid: uuids[2] }],
      notes,
    })
    await other.deleteExports()
  })

  it('is one too many where rows have no uuid', async () => {
    const { id, rows } = await deliver({ hogql_query: 'SELECT event AS what, team_id FROM events' })
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', rows: 3 })
    rows.push({ what: 'smuggled', team_id: null })
    const message = 'The table has 4 rows; 3 were delivered.'
    expect(await bench.verify(id)).toMatchObject({ problems: [{ kind: 'stray_row', message }] })
  })
})
