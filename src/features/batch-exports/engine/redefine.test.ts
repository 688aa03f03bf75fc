// Which rows a run has that is done again, after its export was changed.
import { expect, it } from 'vitest'
import type { Definition } from '../definition.ts'
import type { RunRow } from '../rows.ts'
import { redefine } from './redefine.ts'

const before = {
  model: 'events',
  destination_type: 'HTTP',
  config: { url: 'https://one.example', include_events: ['paid'], exclude_events: [] },
  filters: null,
  timezone: 'UTC',
  hogql_query: null,
} as unknown as Definition
const present: Definition = {
  ...before,
  config: { url: 'https://two.example', include_events: [], exclude_events: [] },
}

const NOTHING = { status: 'Cancelled', published: null, progress: null } as const
const pastOf = (fields: Partial<RunRow>) => {
  const run = { definition: before, ...NOTHING, ...fields } as RunRow
  return { first: run, attempts: 1, completed: run.status === 'Completed' ? run : null, others: [run] }
}
const eventsOf = (fields: Partial<RunRow>) => redefine(present, pastOf(fields)).config.include_events

it.each<[string, Partial<RunRow>, string[]]>([
  ['nothing', {}, []],
  ['nothing, but got through', { status: 'Completed' }, ['paid']],
  ['files, maybe', { published: ['one.jsonl'] }, ['paid']],
  ['batches', { progress: { acknowledged: 1 } }, ['paid']],
])('after a run that delivered %s', (_, fields, events) => {
  expect(eventsOf(fields)).toEqual(events)
  expect(redefine(present, pastOf(fields)).config.url).toBe('https://two.example')
})

it.each<[string, string, string, 'old' | 'new']>([
  ['other columns', 'select event from events where p = 1', 'select uuid from events where p = 1', 'new'],
  ['another condition', 'select event from events where event = 1', 'select event from events', 'old'],
  [
    'the same condition on a column that became another',
    "select properties.plan as p from events where p = 'pro'",
    "select properties.tier as p from events where p = 'pro'",
    'old',
  ],
  [
    'uuids that became capitals',
    'select uuid from events',
    'select upper(toString(uuid)) as uuid from events',
    'old',
  ],
  [
    'uuids that were capitals',
    'select upper(toString(uuid)) as uuid from events',
    'select uuid from events',
    'old',
  ],
  [
    'uuids in another form',
    'select uuid from events',
    'select lower(toString(uuid)) as uuid from events',
    'new',
  ],
  [
    'the same condition on a column that stayed',
    "select properties.plan as p from events where p = 'pro'",
    "select properties.plan as p, event from events where p = 'pro'",
    'new',
  ],
])('a query with %s', (_, old, now, kept) => {
  const past = pastOf({ status: 'Completed', definition: { ...before, hogql_query: old } })
  expect(redefine({ ...present, hogql_query: now }, past).hogql_query).toBe(kept === 'old' ? old : now)
})
