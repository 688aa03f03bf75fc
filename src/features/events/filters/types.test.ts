// Types of filters: where each looks, what it finds when there is nothing, and what it refuses.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseMicros } from '../../../lib/microseconds.ts'
import { openFilteredStore, type FilteredStore } from './fixture/store.ts'

const personId = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`
const created_at = parseMicros('2024-01-01')!

const CHAIN =
  String.raw`a.btn.primary:attr__data-kind="x;y"attr_id="buy"href="/buy?x=1"nth-child="1"nth-of-type="1"text="Buy \"now\"";` +
  'span:nth-child="2"nth-of-type="1";' +
  'div.box:attr_id="main"nth-child="3"nth-of-type="1"text="Shop"'

const EVENTS = [
  {
    event: 'ann',
    distinct_id: 'ann',
    properties: { 'a.b': 'dotted', a: { b: 'path' }, $session_id: 's1' },
    timestamp: '2024-06-01T10:00:00Z',
  },
  {
    event: 'ann on her phone',
    distinct_id: 'ann-phone',
    properties: { $session_id: 's1', $group_0: 'acme' },
    timestamp: '2024-06-01T10:01:00Z',
  },
  {
    event: 'bob',
    distinct_id: 'bob',
    properties: { $session_id: 's2', $group_0: 'globex', $group_1: 'acme' },
    timestamp: '2024-06-01T10:00:00Z',
  },
  {
    event: 'nobody',
    distinct_id: 'stranger',
    properties: {},
    timestamp: '2024-06-01T10:00:00Z',
    has_person: false,
  },
  {
    event: 'click',
    distinct_id: 'bob',
    properties: { $feature: 1 },
    timestamp: '2024-06-01T10:00:00Z',
    elements_chain: CHAIN,
  },
]
const ALL = EVENTS.map(({ event }) => event)

let store: FilteredStore
beforeAll(async () => {
  store = await openFilteredStore(EVENTS, {
    persons: [
      {
        id: personId(1),
        created_at,
        is_identified: true,
        properties: '{"email":"ann@example.com","age":30}',
        version: 0,
      },
      {
        id: personId(2),
        created_at,
        is_identified: false,
        properties: '{"email":null,"age":"41"}',
        version: 0,
      },
    ],
    deleted_persons: [],
    distinct_ids: [
      { distinct_id: 'ann', person_id: personId(1), version: 0 },
      { distinct_id: 'ann-phone', person_id: personId(1), version: 0 },
      { distinct_id: 'bob', person_id: personId(2), version: 0 },
    ],
    groups: [
      { index: 0, key: 'acme', created_at, properties: '{"plan":"pro","size":100}' },
      { index: 0, key: 'globex', created_at, properties: '{"plan":"free"}' },
      { index: 1, key: 'acme', created_at, properties: '{"plan":"team"}' },
    ],
  })
})
afterAll(() => store.close())

const ANN = ['ann', 'ann on her phone']
const BOB = ['bob', 'click']
const but = (...names: string[]) => ALL.filter((name) => !names.includes(name))

describe('where a filter looks', () => {
  it.each<[object, string[]]>([
    [{ key: 'a.b', value: 'dotted' }, ['ann']],
    [{ key: 'a.b', value: 'path' }, []],
    [{ type: 'event', key: 'a', value: '{"b":"path"}' }, ['ann']],
    [{ type: 'feature', key: '$feature', value: '1' }, ['click']],
    [{ key: '__proto__', operator: 'is_set' }, []],
    [{ key: 'constructor', operator: 'is_set' }, []],
    [{ key: `x' OR 1=1 --`, operator: 'is_set' }, []],
    [{ key: `"; DROP TABLE ev_7; --`, value: `'); DROP TABLE ev_7; --` }, []],

    [{ type: 'person', key: 'email', value: 'ann@example.com' }, ANN],
    [{ type: 'person', key: 'email', value: 'EXAMPLE', operator: 'icontains' }, ANN],
    [{ type: 'person', key: 'email', value: 'ann@example.com', operator: 'is_not' }, but(...ANN)],
    [{ type: 'person', key: 'age', value: 31, operator: 'gt' }, BOB],
    [{ type: 'person', key: 'email', operator: 'is_not_set' }, but(...ANN)],
    [{ type: 'person', key: 'distinct_id', value: 'ann-phone' }, ANN],
    [{ type: 'person', key: 'distinct_id', value: ['ann', 'bob'] }, [...ANN, ...BOB]],
    [{ type: 'person', key: 'distinct_id', value: 'ann-phone', operator: 'is_not' }, but(...ANN)],
    [{ type: 'person', key: 'distinct_id', value: 'ANN', operator: 'icontains' }, ANN],
    [{ type: 'person', key: 'distinct_id', value: 'stranger' }, []],

    [{ type: 'event_metadata', key: 'event', value: 'bob' }, ['bob']],
    [{ type: 'event_metadata', key: 'distinct_id', value: 'ANN', operator: 'icontains' }, ANN],
    [{ type: 'event_metadata', key: 'person_id', value: personId(1) }, ANN],
    [{ type: 'event_metadata', key: 'person_id', value: 'no id', operator: 'is_not' }, ALL],
    [{ type: 'event_metadata', key: 'person_id', value: [personId(1), 'no id'] }, ANN],
    [{ type: 'event_metadata', key: '$group_0', value: 'acme' }, ['ann on her phone']],
    [{ type: 'event_metadata', key: '$group_0', operator: 'is_not_set' }, but('ann on her phone', 'bob')],

    [{ type: 'cohort', key: 'id', value: 1 }, []],
    [{ type: 'cohort', key: 'id', value: 1, operator: 'in' }, []],
    [{ type: 'cohort', key: 'id', value: 1, operator: 'not_in' }, ALL],
    [{ type: 'static-cohort', key: 'id', value: 1, negation: true }, ALL],
    [{ type: 'precalculated-cohort', key: 'id', value: [1, 2] }, []],

    [{ type: 'group', group_type_index: 0, key: 'plan', value: 'pro' }, ['ann on her phone']],
    [{ type: 'group', group_type_index: '1', key: 'plan', value: 'team' }, ['bob']],
    [
      { type: 'group', group_type_index: 0, key: 'plan', value: 'pro', operator: 'is_not' },
      but('ann on her phone'),
    ],
    [{ type: 'group', group_type_index: 0, key: 'size', value: 100 }, ['ann on her phone']],
    [{ type: 'group', group_type_index: 4, key: 'size', operator: 'is_set' }, []],

    [{ type: 'session', key: '$session_duration', value: 60 }, ANN],
    [{ type: 'session', key: '$session_duration', value: 0 }, ['bob']],
    [{ type: 'session', key: '$session_duration', value: 30, operator: 'gt' }, ANN],
    [{ type: 'session', key: '$session_duration', value: 30, operator: 'lt' }, ['bob']],
    [{ type: 'session', key: '$session_duration', value: 60, operator: 'is_not' }, but(...ANN)],
    [{ type: 'session', key: '$session_duration', value: [10, 70], operator: 'between' }, ANN],
    [{ type: 'session', key: '$session_duration', operator: 'is_set' }, [...ANN, 'bob']],
    [{ type: 'session', key: '$session_duration', operator: 'is_not_set' }, ['nobody', 'click']],
    [{ type: 'session', key: '$session_id', value: 's2' }, ['bob']],

    [{ type: 'hogql', key: `event = 'bob' or distinct_id = 'ann'` }, ['ann', 'bob']],
    [{ type: 'hogql', key: `properties.$group_0 != 'acme'`, value: 'ignored' }, but('ann on her phone')],
    [{ type: 'hogql', key: 'person.properties.age > 35' }, BOB],
  ])('%j', async (filter, expected) => {
    expect(await store.find([filter])).toEqual(expected)
  })
})

describe('elements', () => {
  const element = (key: string, value: unknown, operator?: string) =>
    store.find([{ type: 'element', key, value, ...(operator ? { operator } : {}) }])

  it.each<[string, unknown, string | undefined, boolean]>([
    ['tag_name', 'a', undefined, true],
    ['tag_name', 'div', undefined, true],
    ['tag_name', ['p', 'span'], 'exact', true],
    ['tag_name', 'y"attr_id', undefined, false],
    ['tag_name', 'p', undefined, false],
    ['tag_name', 'A', undefined, false],
    ['tag_name', 'd.v', undefined, false],
    ['text', 'Shop', undefined, true],
    ['text', 'Buy "now"', undefined, true],
    ['text', 'Buy', undefined, false],
    ['text', '"NOW"', 'icontains', true],
    ['text', '^Sh', 'regex', true],
    ['text', 'buy', 'regex', false],
    ['text', undefined, 'is_set', true],
    ['href', '/buy?x=1', undefined, true],
    ['href', ['/sell', '/buy?x=1'], 'in', true],
    ['href', '/BUY', 'icontains', true],
    ['href', 'nothing', 'icontains', false],
    ['selector', 'a', undefined, true],
    ['selector', '.btn', undefined, true],
    ['selector', 'a.primary.btn', undefined, true],
    ['selector', 'a.btn.primary.big', undefined, false],
    ['selector', 'a.prim', undefined, false],
    ['selector', '#buy', undefined, true],
    ['selector', 'div#buy', undefined, false],
    ['selector', 'div > span > a', undefined, true],
    ['selector', 'div > a', undefined, false],
    ['selector', 'div a', undefined, true],
    ['selector', 'a div', undefined, false],
    ['selector', '.box span', undefined, true],
    ['selector', '* > span', undefined, true],
    ['selector', 'a[href="/buy?x=1"]', undefined, true],
    ['selector', `a[href='/buy']`, undefined, false],
    ['selector', 'a[href^="/buy"][data-kind]', undefined, true],
    ['selector', 'a[href$="=1"]', undefined, true],
    ['selector', 'a[href*="uy?"]', undefined, true],
    ['selector', 'a[data-kind="x;y"]', undefined, true],
    ['selector', 'a[id=buy]', undefined, true],
    ['selector', 'div[text="Shop"]', undefined, true],
    ['selector', 'a:nth-child(1)', undefined, true],
    ['selector', 'a:nth-child(2)', undefined, false],
    ['selector', 'div:nth-child(3):nth-of-type(1) a.btn', undefined, true],
    ['selector', ['p', 'div.box'], undefined, true],
  ])('%s %j %s: %s', async (key, value, operator, isFound) => {
    expect(await element(key, value, operator)).toEqual(isFound ? ['click'] : [])
  })

  it.each<[string, unknown, string]>([
    ['tag_name', 'a', 'is_not'],
    ['selector', '.btn', 'is_not'],
    ['text', 'Shop', 'is_not'],
    ['text', 'shop', 'not_icontains'],
    ['href', undefined, 'is_not_set'],
  ])('%s %j %s finds everything but the click', async (key, value, operator) => {
    expect(await element(key, value, operator)).toEqual(but('click'))
  })
})

describe('400', () => {
  it.each<[object]>([
    [{ value: 'x' }],
    [{ key: '', value: 'x' }],
    [{ key: 5, value: 'x' }],
    [{ key: 'a\0', value: 'x' }],
    [{ key: 'x' }],
    [{ type: 'recording', key: 'x', value: 1 }],
    [{ type: 'log_entry', key: 'x', value: 1 }],
    [{ type: 'data_warehouse', key: 'x', value: 1 }],
    [{ type: 'behavioral', key: 'x', value: 1 }],
    [{ type: 'toString', key: 'x', value: 1 }],
    [{ type: 5, key: 'x', value: 1 }],
    [{ type: 'event_metadata', key: 'properties', value: 1 }],
    [{ type: 'event_metadata', key: 'team_id', value: 1 }],
    [{ type: 'element', key: 'color', value: 'red' }],
    [{ type: 'element', key: 'tag_name', value: 'a', operator: 'icontains' }],
    [{ type: 'element', key: 'selector', value: 'a', operator: 'regex' }],
    [{ type: 'element', key: 'selector', value: '' }],
    [{ type: 'element', key: 'selector', value: 'a >' }],
    [{ type: 'element', key: 'selector', value: 'a + b' }],
    [{ type: 'element', key: 'selector', value: 'a:hover' }],
    [{ type: 'element', key: 'selector', value: 'a.b.c.d.e.f' }],
    [{ type: 'element', key: 'selector', value: 'a '.repeat(600) }],
    [{ type: 'element', key: 'selector', value: 'a '.repeat(21) }],
    [{ type: 'cohort', key: 'id' }],
    [{ type: 'cohort', key: 'id', value: 1, operator: 'gt' }],
    [{ type: 'group', key: 'plan', value: 'pro' }],
    [{ type: 'group', group_type_index: 5, key: 'plan', value: 'pro' }],
    [{ type: 'group', group_type_index: -1, key: 'plan', value: 'pro' }],
  ])('%j', async (filter) => {
    await expect(store.find([filter])).rejects.toMatchObject({
      status: 400,
      code: 'invalid_input',
      attr: 'properties',
    })
  })

  it('which of several filters is at fault is told by its number from 1', async () => {
    await expect(store.find([{ key: 'a', value: 1 }, { key: 'b' }])).rejects.toMatchObject({
      detail: 'Filter 2: A filter has no value.',
    })
  })

  it.each([
    ['event =', 'hogql_syntax_error'],
    ['select 1; drop', 'hogql_syntax_error'],
  ])('hogql %s: %s', async (key, code) => {
    await expect(store.find([{ type: 'hogql', key }])).rejects.toMatchObject({
      status: 400,
      code,
      attr: 'properties',
    })
  })
})
