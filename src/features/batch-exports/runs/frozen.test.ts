// What a destination knows a run by.
import { expect, it } from 'vitest'
import type { Definition } from '../definition.ts'
import type { RunRow } from '../rows.ts'
import { factsOf, type FrozenRun } from './frozen.ts'

const to = (destination_type: string, config: object) =>
  ({ model: 'events', destination_type, config, hogql_query: null }) as unknown as Definition
const table = (table_name: string) =>
  to('Postgres', { host: 'db.example', port: 5432, database: 'd', schema: 'public', table_name })

const run = (id: string, definition: Definition) =>
  ({ id, definition, attempt: 1, status: 'Cancelled', selection: 'arrival', backfill_id: null }) as RunRow

/** The last of them, after the others. */
function idOf(...runs: RunRow[]): string {
  const [first, last] = [runs[0]!, runs.at(-1)!]
  const past = { first, attempts: 0, completed: null, others: runs.slice(0, -1) }
  return factsOf({ ...last, areas: [], past } as unknown as FrozenRun).id
}

it('is the id of the first run to the same table: another table has not got what that one has', () => {
  const one = run('a', table('one'))
  expect(idOf(one)).toBe('a')
  expect(idOf(one, run('b', table('one')))).toBe('a')
  expect(idOf(one, run('b', table('two')))).toBe('b')
  expect(idOf(one, run('b', table('two')), run('c', table('two')))).toBe('b')
  expect(idOf(one, run('b', table('two')), run('c', table('one')))).toBe('a')
})

it.each([
  ['HTTP', { url: 'https://one.example' }, { url: 'https://two.example' }],
  ['File', { prefix: 'one' }, { prefix: 'two' }],
])('is the id of the first run for %s, wherever it goes', (type, one, two) => {
  expect(idOf(run('a', to(type, one)), run('b', to(type, two)))).toBe('a')
})
