// What a destination knows a run by, and by what it tells its rows apart.
import { describe, expect, it } from 'vitest'
import type { Definition } from '../definition.ts'
import type { RunRow } from '../rows.ts'
import { factsOf, type FrozenRun } from './frozen.ts'

const [A, B, C] = [
  '018f4e6c-1c00-7abc-8def-00000000000a',
  '018f4e6c-1c00-7abc-8def-00000000000b',
  '018f4e6c-1c00-7abc-8def-00000000000c',
]

const to = (destination_type: string, config: object) =>
  ({ model: 'events', destination_type, config, hogql_query: null }) as unknown as Definition
const table = (table_name: string) =>
  to('Postgres', { host: 'db.example', port: 5432, database: 'd', schema: 'public', table_name })

const run = (id: string, definition: Definition): RunRow =>
  ({ id, definition, attempt: 1, status: 'Cancelled', selection: 'arrival', backfill_id: null }) as RunRow

const idOf = (...runs: RunRow[]) => factsAfter(runs).id

/** The last of them, after the others. */
function factsAfter(runs: readonly RunRow[]) {
  const [first, last] = [runs[0]!, runs.at(-1)!]
  const past = { first, attempts: 0, completed: null, others: runs.slice(0, -1) }
  return factsOf({ ...last, areas: [], past } as unknown as FrozenRun)
}

it('is the id of the delivery, and another for another table: that has not got what the first one has', () => {
  const one = run(A, table('one'))
  expect(idOf(one)).toBe(A)
  expect(idOf(one, run(B, table('one')))).toBe(A)
  const moved = idOf(one, run(B, table('two')))
  expect(moved).toMatch(/^[0-9a-f-]{36}$/)
  expect(idOf(one, run(B, table('two')), run(C, table('two')))).toBe(moved)
  expect(idOf(one, run(B, table('three')))).not.toBe(moved)
  expect(idOf(one, run(B, table('two')), run(C, table('one')))).toBe(A)
})

it('is the id of the delivery also when its first run never began', () => {
  const never = { ...run(A, table('one')), definition: null }
  const began = run(B, table('two'))
  expect(idOf(never, began)).toBe(A)
  expect(idOf(never, began, run(C, table('two')))).toBe(A)
  expect(idOf(never, began, run(C, table('one')))).not.toBe(A)
})

it.each([
  ['HTTP', { url: 'https://one.example' }, { url: 'https://two.example' }],
  ['File', { prefix: 'one' }, { prefix: 'two' }],
])('is the id of the first run for %s, wherever it goes', (type, one, two) => {
  expect(idOf(run(A, to(type, one)), run(B, to(type, two)))).toBe(A)
})

describe('rows are told apart by time', () => {
  const as = (hogql_query: string | null) => ({ ...table('one'), hogql_query }) as Definition
  const OWN = 'SELECT uuid, timestamp FROM events'
  const OTHER = 'SELECT uuid, created_at AS timestamp FROM events'
  const isByTime = (...runs: RunRow[]) => factsAfter(runs).told_apart_by.includes('timestamp')

  it('where every run of the delivery had the event’s own', () => {
    expect(isByTime(run(A, as(null)))).toBe(true)
    expect(isByTime(run(A, as(OWN)))).toBe(true)
    expect(isByTime(run(A, as(null)), run(B, as(OWN)))).toBe(true)
    expect(isByTime({ ...run(A, as(null)), definition: null }, run(B, as(OWN)))).toBe(true)
  })

  it('not where one of them had another, none, or left it out', () => {
    expect(isByTime(run(A, as(OTHER)))).toBe(false)
    expect(isByTime(run(A, as('SELECT uuid FROM events')))).toBe(false)
    expect(isByTime(run(A, as(OTHER)), run(B, as(OWN)))).toBe(false)
    expect(isByTime({ ...run(A, as(null)), left_out: ['timestamp'] }, run(B, as(null)))).toBe(false)
    expect(isByTime({ ...run(A, as(null)), left_out: ['event'] }, run(B, as(null)))).toBe(true)
    expect(isByTime(run(A, { ...as(null), model: 'persons' }))).toBe(false)
  })
})
