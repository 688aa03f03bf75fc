// Functions of arrays, with and without a lambda. Places count from 1, from the end when negative.
import { queryError } from '../errors.ts'
import {
  asManyAs,
  charactersOf,
  flattened,
  itemsOf,
  joinedItems,
  largestOf,
  sizeOf,
  withOneMore,
  writtenItems,
} from '../size-estimate.ts'
import type { Printing, Type, Value } from '../value.ts'
import { isCertain, orDefault } from './certainty.ts'
import { bring, commonType, unify } from './common-type.ts'
import {
  arrayOf,
  atMost,
  BOOLEAN,
  both,
  call,
  constantNumber,
  constantText,
  define,
  generated,
  INTEGER,
  itemTypeOf,
  MOST_ITEMS,
  type Named,
  nth,
  once,
  read,
  TEXT,
  tuple,
} from './define.ts'

const sameArray = (args: readonly Value[]): Type => arrayOf(itemTypeOf(args[0]))

const plain = (
  name: string,
  type: Named['type'],
  duckdb: (array: string) => string,
  estimate: Named['estimate'] = largestOf,
) => define(name, ['array'], type, duckdb, { estimate })

/** An array and something that is or becomes an item of it. */
const withItem = (
  name: string,
  type: Named['type'],
  duckdb: (array: string, item: string) => string,
): Named => {
  const texts = (args: readonly Value[], printing: Printing): [string, string] => [
    read('array', nth(args, 0), printing),
    bring(nth(args, 1), itemTypeOf(args[0]), printing),
  ]
  return {
    name,
    args: [2, 2],
    type,
    estimate: ([array, item]) => withOneMore(array, item),
    duckdb: (args, printing) => duckdb(...texts(args, printing)),
    clickhouse: (args, printing) => call(name, texts(args, printing)),
  }
}

/** The items of all arrays brought to one type: DuckDB compares no texts with numbers. */
const sameItems = (args: readonly Value[], printing: Printing): string[] => {
  const item = commonType(args.map((array) => ({ sql: '', type: itemTypeOf(array) })))
  return args.map((array) => {
    const sql = read('array', array, printing)
    const converted = bring({ sql: 'item', type: itemTypeOf(array) }, item, printing)
    if (converted === 'item') return sql
    return printing.engine === 'clickhouse'
      ? `arrayMap(item -> ${converted}, ${sql})`
      : `list_transform(${sql}, lambda item: ${converted})`
  })
}

const several = (name: string, duckdb: string, type: Named['type'], least: number, most: number): Named => ({
  name,
  args: [least, most],
  type,
  estimate: joinedItems,
  duckdb: (args, printing) => call(duckdb, sameItems(args, printing)),
  clickhouse: (args, printing) => call(name, sameItems(args, printing)),
})

const mergedArray = (args: readonly Value[]): Type =>
  arrayOf(commonType(args.map((array) => ({ sql: '', type: itemTypeOf(array) }))))

/** `list_slice` knows places only. Cutting twice keeps an offset from the end apart from the length. */
const slice = (array: string, offset: string, length?: string) => {
  const tail = `list_slice(${array}, ${offset}, 9223372036854775807)`
  if (length === undefined) return tail
  return once(
    [tail, length],
    (items, size) => `list_slice(${items}, 1, case when ${size} < 0 then ${size} - 1 else ${size} end)`,
  )
}

/** NaN where it is only known row by row. */
const rangeLength = (args: readonly Value[]): number => {
  const [first = NaN, second, step = 1] = args.map(constantNumber)
  return second === undefined ? Math.max(0, first) : Math.ceil(Math.abs((second - first) / step))
}

const range: Named = {
  name: 'range',
  args: [1, 3],
  estimate: (args) => ({ count: generated(rangeLength(args)), item: 1 }),
  type: arrayOf(INTEGER),
  duckdb: (args, printing) => {
    const [first = '', second, step = '1'] = args.map((value) => read('integer', value, printing))
    if (second === undefined) return `range(${atMost(nth(args, 0), first, MOST_ITEMS, 'range')})`
    return once(
      [first, second, step],
      (from, to, by) =>
        `case when abs((cast(${to} as double) - ${from}) / ${by}) > ${MOST_ITEMS} and ${by} <> 0` +
        ` then error('range makes at most ${MOST_ITEMS} items') else range(${from}, ${to}, ${by}) end`,
    )
  },
  clickhouse: (args, printing) =>
    call(
      'range',
      args.map((value) => read('integer', value, printing)),
    ),
}

export const arrayFunctions: readonly Named[] = [
  {
    name: 'array',
    args: [0, Infinity],
    type: (args) => arrayOf(commonType(args)),
    estimate: writtenItems,
    duckdb: (args, printing) => `[${unify(args, printing).texts.join(', ')}]`,
    clickhouse: (args, printing) => call('array', unify(args, printing).texts),
  },
  withItem('has', BOOLEAN, (array, item) => `list_contains(${array}, ${item})`),
  withItem('indexOf', INTEGER, (array, item) => `coalesce(list_position(${array}, ${item}), 0)`),
  withItem('arrayPushBack', sameArray, (array, item) => `list_append(${array}, ${item})`),
  withItem('arrayPushFront', sameArray, (array, item) => `list_prepend(${item}, ${array})`),
  several('hasAny', 'list_has_any', BOOLEAN, 2, 2),
  several('hasAll', 'list_has_all', BOOLEAN, 2, 2),
  several('arrayConcat', 'list_concat', mergedArray, 1, Infinity),
  several('arrayIntersect', 'list_intersect', mergedArray, 2, 2),
  plain('arrayPopBack', sameArray, (array) => `list_slice(${array}, 1, -2)`),
  plain('arrayPopFront', sameArray, (array) => `list_slice(${array}, 2, 9223372036854775807)`),
  plain('arrayReverse', sameArray, (array) => `list_reverse(${array})`),
  plain('arrayDistinct', sameArray, (array) =>
    once(
      [array],
      (items) =>
        `list_filter(${items}, lambda item, place: item is not null and list_position(${items}, item) = place)`,
    ),
  ),
  plain('arrayUniq', INTEGER, (array) => `cast(list_unique(${array}) as bigint)`),
  plain(
    'arrayEnumerate',
    arrayOf(INTEGER),
    (array) => `list_transform(${array}, lambda item, place: place)`,
    (args) => asManyAs(args, 1),
  ),
  plain(
    'arrayFlatten',
    (args) => flatType(nth(args, 0).type),
    (array) => `flatten(${array})`,
    ([array]) => flattened(array),
  ),
  {
    name: 'arrayElement',
    args: [2, 2],
    type: (args) => itemTypeOf(args[0]),
    certain: (args) => isCertain(itemTypeOf(args[0])),
    estimate: ([array]) => itemsOf(array).item,
    duckdb: (args, printing) =>
      orDefault(
        `list_extract(${read('array', nth(args, 0), printing)}, ${read('integer', nth(args, 1), printing)})`,
        itemTypeOf(args[0]),
      ),
    clickhouse: (args, printing) =>
      `arrayElement(${read('array', nth(args, 0), printing)}, ${read('integer', nth(args, 1), printing)})`,
  },
  define('arraySlice', ['array', 'integer', 'integer?'], sameArray, slice, {
    estimate: (args) => largestOf(args.slice(0, 1)),
  }),
  {
    name: 'arrayStringConcat',
    args: [1, 2],
    type: TEXT,
    estimate: ([array, between]) => {
      const { count, item } = itemsOf(array)
      return count * Math.max(sizeOf(item), charactersOf(between))
    },
    ...both((args, printing) => {
      const name = printing.engine === 'clickhouse' ? 'arrayStringConcat' : 'array_to_string'
      const between = args[1] ? printing.bind(constantText(args[1], 'What stands between items')) : `''`
      const array = nth(args, 0)
      const items = read('array', array, printing)
      const text = printing.text({ sql: 'item', type: itemTypeOf(array) })
      if (text === 'item') return call(name, [items, between])
      return call(name, [
        printing.engine === 'clickhouse'
          ? `arrayMap(item -> ${text}, ${items})`
          : `list_transform(${items}, lambda item: ${text})`,
        between,
      ])
    }),
  },
  {
    name: 'arrayZip',
    args: [2, Infinity],
    type: (args) => arrayOf({ kind: 'tuple', items: args.map(itemTypeOf) }),
    estimate: (args) =>
      asManyAs(
        args,
        args.reduce((sum, array) => sum + sizeOf(itemsOf(array).item), 0),
      ),
    duckdb: (args, printing) => {
      const lists = args.map((array) => read('array', array, printing))
      const parts = lists.map((_, index) => `pair[${index + 1}]`)
      return `list_transform(${call('list_zip', lists)}, lambda pair: ${tuple(parts, printing)})`
    },
    clickhouse: (args, printing) =>
      call(
        'arrayZip',
        args.map((array) => read('array', array, printing)),
      ),
  },
  range,
]

/** One level less. */
const flatType = (type: Type): Type => {
  if (type.kind !== 'array' || type.item.kind !== 'array')
    throw queryError(`'arrayFlatten' takes an array of arrays.`)
  return type.item
}
