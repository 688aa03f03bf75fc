// What may stand where somebody types, and what is offered there.
import { describe, expect, it } from 'vitest'
import { optionsAt, type Language, type Names, type PropertyOwner } from './completion.ts'
import { placeAt, tablesIn, type Place } from './place.ts'

describe('the place of the cursor', () => {
  it.each<[string, Place | null]>([
    ['', { kind: 'name', typed: '' }],
    ['select ev', { kind: 'name', typed: 'ev' }],
    ['select $se', { kind: 'name', typed: '$se' }],
    ['select event from ', { kind: 'table', typed: '' }],
    ['select event FROM\n  ev', { kind: 'table', typed: 'ev' }],
    ['select event from events e left join per', { kind: 'table', typed: 'per' }],
    ['select fromage', { kind: 'name', typed: 'fromage' }],
    ['select e.', { kind: 'member', of: 'e', typed: '' }],
    ['select person.cre', { kind: 'member', of: 'person', typed: 'cre' }],
    ['select properties.$bro', { kind: 'property', of: null, typed: '$bro', isQuoted: false }],
    ['select e.properties.', { kind: 'property', of: 'e', typed: '', isQuoted: false }],
    ['select person.properties.em', { kind: 'property', of: 'person', typed: 'em', isQuoted: false }],
    ["select properties['odd na", { kind: 'property', of: null, typed: 'odd na', isQuoted: true }],
    ["select person.properties[ 'x", { kind: 'property', of: 'person', typed: 'x', isQuoted: true }],
    ["where event = '$pa", { kind: 'event', typed: '$pa' }],
    ["where event in ('a', 'b", { kind: 'event', typed: 'b' }],
    ["where event not like '", { kind: 'event', typed: '' }],
    ["where event_name = 'x", null],
    ["where distinct_id = 'x", null],
    ["where event = 'it\\'s' and ", { kind: 'name', typed: '' }],
    ["where event = 'it''s' and x", { kind: 'name', typed: 'x' }],
    ['select 1 -- from ', null],
    ['select 1 -- a comment\n, ev', { kind: 'name', typed: 'ev' }],
    ["select 1 /* it's */ , ev", { kind: 'name', typed: 'ev' }],
    ['select 1 /* from ', null],
    ['select `odd na', null],
    ['limit 10', null],
    ['select 1.5', null],
  ])('%s', (before, place) => expect(placeAt(before)).toEqual(place))

  it('long texts take no time', () => {
    const started = performance.now()
    placeAt(`select '${"\\'".repeat(30_000)}`)
    placeAt('('.repeat(60_000))
    placeAt('a.'.repeat(30_000))
    placeAt(`where event in (${"'a', ".repeat(12_000)}'`)
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})

it('tables by the names that the text gives them', () => {
  const known = new Set(['events', 'persons'])
  const text =
    'with x as (select 1) select * from events as e join persons p on 1 = 1 join x using y where a from events where b'
  expect([...tablesIn(text, known)]).toEqual([
    ['events', 'events'],
    ['e', 'events'],
    ['persons', 'persons'],
    ['p', 'persons'],
  ])
})

const LANGUAGE: Language = {
  tables: [
    {
      name: 'events',
      columns: [
        { name: 'event', type: 'text' },
        { name: 'person.id', type: 'uuid' },
      ],
    },
    { name: 'persons', columns: [{ name: 'id', type: 'uuid' }] },
  ],
  functions: [
    {
      name: 'count',
      aliases: ['cnt'],
      kind: 'aggregate',
      min_args: 0,
      max_args: 1,
      min_params: 0,
      max_params: 0,
      takes_lambda: false,
      with_condition: 'countIf',
    },
  ],
  keywords: ['select', 'from'],
}

describe('what is offered', () => {
  const owners: PropertyOwner[] = []
  const names: Names = {
    language: async () => LANGUAGE,
    async properties(owner) {
      owners.push(owner)
      return [
        { name: '$browser', detail: 'String' },
        { name: 'odd `name', detail: null },
      ]
    },
    events: async () => ["it's"],
  }
  const offered = async (before: string, after = '') => optionsAt(placeAt(before)!, before + after, names)
  const labels = async (before: string, after = '') =>
    (await offered(before, after)).map(({ label }) => label)

  it('columns of the tables asked, functions with their other names, words in the case that is typed', async () => {
    expect(await labels('select e', ' from persons')).toEqual([
      'id',
      'persons',
      'count',
      'cnt',
      'countIf',
      'select',
      'from',
    ])
    expect(await labels('select ')).toContain('event')
    expect(await labels('SEL')).toContain('SELECT')
  })

  it('members of an alias, and of a column with parts', async () => {
    expect(await labels('select p.', ' from persons p')).toEqual(['id'])
    expect(await labels('select person.', ' from events')).toEqual(['id'])
    expect(await labels('select nobody.', ' from events')).toEqual([])
  })

  it('properties of whom they are, written so that they can be read', async () => {
    const options = await offered('select properties.')
    expect(options.map(({ apply }) => apply)).toEqual(['$browser', '`odd \\`name`'])
    await offered('select person.properties.')
    await offered('select group_2.properties.')
    await offered('select properties.', ' from persons')
    await offered('select p.properties.', ' from events e join persons p on true')
    expect(owners).toEqual([
      { type: 'event' },
      { type: 'person' },
      { type: 'group', group_type_index: 2 },
      { type: 'person' },
      { type: 'person' },
    ])
  })

  it('events in quotes, escaped', async () => {
    expect((await offered("select 1 from events where event = '")).map(({ apply }) => apply)).toEqual([
      "it\\'s",
    ])
  })
})
