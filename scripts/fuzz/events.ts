// Events to send: those every world begins with, generated ones as clients send them, and ones no client should send.
import fc, { type Arbitrary } from 'fast-check'
import { anyJson, hostileText, mostly } from './values.ts'

type Sent = Record<string, unknown>

export const EVENT_NAMES = ['$pageview', '$autocapture', 'signed up', 'paid', '$identify', 'it\'s "odd"']
export const DISTINCT_IDS = ['ann', 'bob', 'anon-1', 'anon-2', '5', 'zoë@example.com']

/** Each name with values of more than one type, as they come from clients that were never agreed with. */
const PROPERTIES: Record<string, readonly unknown[]> = {
  $browser: ['Chrome', 'Safari', null, ''],
  $current_url: ['https://example.com/a?utm_source=x', '/relative', 'not a url'],
  $session_id: ['s1', 's2'],
  amount: [5, 5.5, '5', '5.0', -1, 1e300, 'many', null],
  flag: [true, false, 'true', 0],
  tags: [['a', 'b'], [], 'a,b', [1, [2]], [null]],
  when: ['2024-06-01', '2024-06-01T10:00:00Z', 1717236000, '1717236000000', 'never', '-7d'],
  nested: [{ a: { b: 'deep' }, list: [1, 2] }, {}, 'flat'],
  'a.b': ['dotted'],
  'q"uo\'te\\': ['quoted'],
  '': ['empty'],
}
export const PROPERTY_NAMES = Object.keys(PROPERTIES)
export const PROPERTY_VALUES = Object.values(PROPERTIES).flat()

const ELEMENTS = [
  { tag_name: 'a', $el_text: 'Buy "now"', attr__href: '/buy', attr__class: 'btn big', attr__id: 'buy' },
  { tag_name: 'div', nth_child: 2, nth_of_type: 1, 'attr__data-x': '1' },
]
const CHAIN = 'a.btn:href="/buy"nth-child="1"nth-of-type="1"text="Buy";div:nth-child="2"nth-of-type="1"'
const TIMES = [
  '2024-06-01T10:00:00.123456Z',
  '2024-06-01',
  '1970-01-01T00:00:00Z',
  '0001-01-01',
  '9999-12-31',
]

/** One of everything, now and long ago, so that good questions find something. */
export function firstEvents(now: Date, uuidOf: (index: number) => string): Sent[] {
  const made = Array.from({ length: 40 }, (_, index): Sent => ({
    event: EVENT_NAMES[index % EVENT_NAMES.length],
    distinct_id: DISTINCT_IDS[index % DISTINCT_IDS.length],
    timestamp: new Date(now.getTime() - index ** 3 * 60_000).toISOString(),
    properties: Object.fromEntries(
      Object.entries(PROPERTIES).map(([name, values], at) => [name, values[(index + at) % values.length]]),
    ),
    $set: { email: `user-${index % 3}@example.com`, plan: ['free', 'pro'][index % 2], age: 20 + index },
  }))
  const special: Sent[] = [
    { event: '$identify', distinct_id: 'ann', properties: { $anon_distinct_id: 'anon-1' } },
    { event: '$create_alias', distinct_id: 'bob', properties: { alias: 'robert' } },
    { event: '$autocapture', distinct_id: 'ann', properties: { $elements: ELEMENTS } },
    { event: '$autocapture', distinct_id: 'bob', properties: { $elements_chain: CHAIN } },
    { event: 'at work', distinct_id: 'ann', properties: { $groups: { company: 'acme', team: 7 } } },
    {
      event: '$groupidentify',
      distinct_id: 'ann',
      properties: { $group_type: 'company', $group_key: 'acme', $group_set: { name: 'Acme', size: 9 } },
    },
    { event: 'nobody', distinct_id: 'ghost', properties: { $process_person_profile: false } },
    ...TIMES.map((timestamp) => ({ event: 'some time', distinct_id: 'ann', timestamp })),
  ]
  return [...made, ...special].map((event, index) => ({ ...event, uuid: uuidOf(index) }))
}

const someProperties = fc
  .subarray(PROPERTY_NAMES, { maxLength: 5 })
  .chain((names) =>
    fc.record(Object.fromEntries(names.map((name) => [name, fc.constantFrom(...PROPERTIES[name]!)]))),
  )

export const goodEvent: Arbitrary<Sent> = fc.record(
  {
    event: fc.constantFrom(...EVENT_NAMES),
    distinct_id: fc.constantFrom<unknown>(...DISTINCT_IDS, 5, true),
    properties: someProperties,
    timestamp: fc.constantFrom(...TIMES),
    offset: fc.integer({ min: 0, max: 5_000 }),
    $set: fc.constantFrom({ email: 'ann@example.com' }, { name: 'Ann', age: 3 }),
    $set_once: fc.constant({ first: 'x' }),
  },
  { requiredKeys: ['event', 'distinct_id'] },
)

/** What the server gives a meaning to, so that odd values have something to break. */
const MEANINGFUL = [
  'token',
  'distinct_id',
  '$set',
  '$set_once',
  '$unset',
  '$groups',
  '$group_0',
  '$group_type',
  '$group_key',
  '$group_set',
  '$elements',
  '$elements_chain',
  '$anon_distinct_id',
  'alias',
  '$process_person_profile',
  '$ignore_sent_at',
  '$ip',
  '$current_url',
  '$session_id',
  '__proto__',
  'constructor',
]
const FIELDS = [
  'event',
  'distinct_id',
  '$distinct_id',
  'properties',
  'uuid',
  'timestamp',
  'sent_at',
  'offset',
]

const ODD_TIMES = ['now', '', '2024-13-45', '99999-01-01', '-1', 'Infinity', '2024-06-01T10:00:00+99:99']
const ODD_ITEMS = fc.oneof(
  anyJson,
  fc.constantFrom<unknown>(...ODD_TIMES, 1e308, -1e308, 253402300800000, ELEMENTS, { company: ['acme'] }),
  fc.array(fc.oneof(anyJson, fc.constantFrom<unknown>(...ELEMENTS)), { maxLength: 4 }),
  fc.dictionary(fc.oneof(hostileText, fc.constantFrom(...PROPERTY_NAMES)), anyJson, { maxKeys: 4 }),
)

const deepItem = fc.integer({ min: 20, max: 3_000 }).map((depth) => {
  let item: unknown = 'bottom'
  for (let level = 0; level < depth; level++) item = level % 2 === 0 ? [item] : { item }
  return item
})
const wideItem = fc
  .integer({ min: 100, max: 2_000 })
  .map((count) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`name ${at}`, at])))

export const hostileEvent: Arbitrary<unknown> = mostly(
  12,
  fc
    .tuple(
      goodEvent,
      fc.array(fc.tuple(fc.constantFrom(...FIELDS), ODD_ITEMS), { maxLength: 2 }),
      fc.array(
        fc.tuple(
          fc.oneof(fc.constantFrom(...MEANINGFUL), hostileText),
          fc.oneof(
            { weight: 20, arbitrary: ODD_ITEMS },
            { weight: 1, arbitrary: fc.oneof(deepItem, wideItem) },
          ),
        ),
        { maxLength: 4 },
      ),
    )
    .map(([event, fields, properties]) => ({
      ...event,
      properties: { ...(event['properties'] as object), ...Object.fromEntries(properties) },
      ...Object.fromEntries(fields),
    })),
  anyJson,
)
