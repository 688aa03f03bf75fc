// Functions that go through an array item by item with the items before in view, and those that fold it into one value.
import { queryError } from '../errors.ts'
import { asManyAs, largestOf, sizeOf } from '../size-estimate.ts'
import type { Printing, Type, Value } from '../value.ts'
import { bring } from './common-type.ts'
import { withCertainty } from './certainty.ts'
import {
  arrayOf,
  atMost,
  call,
  constantNumber,
  constantText,
  FLOAT,
  generated,
  INTEGER,
  itemTypeOf,
  MOST_ITEMS,
  type Named,
  nth,
  once,
  read,
} from './define.ts'
import { lambdaFunctions } from './lambdas.ts'
import { arrayFunctions } from './arrays.ts'

const asMany: Named['estimate'] = (args) => asManyAs(args.slice(0, 1), 1)

/** Items as numbers: those of properties are texts. */
const numbersIn = (value: Value, printing: Printing): string => {
  const array = read('array', value, printing)
  const item = printing.number({ sql: 'item', type: itemTypeOf(value) })
  if (item === 'item') return array
  return printing.engine === 'clickhouse'
    ? `arrayMap(item -> ${item}, ${array})`
    : `list_transform(${array}, lambda item: ${item})`
}
const numberOf = (value: Value | undefined): Type =>
  ['integer', 'boolean'].includes(itemTypeOf(value).kind) ? INTEGER : FLOAT
const sameNumbers = (args: readonly Value[]): Type =>
  arrayOf(withCertainty(numberOf(args[0]), itemTypeOf(args[0]).kind !== 'property'))

const walk = (
  name: string,
  type: Named['type'],
  body: (items: string) => string,
  items: (value: Value, printing: Printing) => string = (value, printing) => read('array', value, printing),
  estimate: Named['estimate'] = asMany,
): Named => ({
  name,
  args: [1, 1],
  type,
  certain: () => true,
  estimate,
  duckdb: (args, printing) => once([items(nth(args, 0), printing)], body),
  clickhouse: (args, printing) => call(name, [items(nth(args, 0), printing)]),
})

const sameArray = (args: readonly Value[]): Type => arrayOf(itemTypeOf(args[0]))

const countEqual: Named = {
  name: 'countEqual',
  args: [2, 2],
  type: INTEGER,
  certain: () => true,
  duckdb: (args, printing) =>
    once(
      [read('array', nth(args, 0), printing), bring(nth(args, 1), itemTypeOf(args[0]), printing)],
      (items, sought) => `len(list_filter(${items}, lambda item: item is not distinct from ${sought}))`,
    ),
  clickhouse: (args, printing) =>
    call('countEqual', [
      read('array', nth(args, 0), printing),
      bring(nth(args, 1), itemTypeOf(args[0]), printing),
    ]),
}

const arrayWithConstant: Named = {
  name: 'arrayWithConstant',
  args: [2, 2],
  type: (args) => arrayOf(nth(args, 1).type),
  estimate: ([count, item]) => ({
    count: generated(Math.max(0, constantNumber(count))),
    item: sizeOf(item?.estimate),
  }),
  duckdb: (args, printing) =>
    once(
      [
        atMost(nth(args, 0), read('integer', nth(args, 0), printing), MOST_ITEMS, 'arrayWithConstant'),
        nth(args, 1).sql,
      ],
      (count, item) => `list_transform(range(${count}), lambda place: ${item})`,
    ),
  clickhouse: (args, printing) =>
    call('arrayWithConstant', [read('integer', nth(args, 0), printing), nth(args, 1).sql]),
}

const find = (functions: readonly Named[], name: string): Named => {
  const entry = functions.find((each) => each.name === name)
  if (!entry) throw new Error(`no function ${name}`)
  return entry
}

/** Aggregates that are functions of an array as well. */
const REDUCERS: ReadonlyMap<string, Named> = new Map([
  ['sum', find(lambdaFunctions, 'arraySum')],
  ['min', find(lambdaFunctions, 'arrayMin')],
  ['max', find(lambdaFunctions, 'arrayMax')],
  ['avg', find(lambdaFunctions, 'arrayAvg')],
  ['uniq', find(arrayFunctions, 'arrayUniq')],
  ['uniqExact', find(arrayFunctions, 'arrayUniq')],
])
const reducerOf = (args: readonly Value[]): Named => {
  const name = constantText(args[0], 'The aggregate in arrayReduce')
  const entry = REDUCERS.get(name)
  if (!entry) throw queryError(`arrayReduce knows ${[...REDUCERS.keys()].join(', ')}.`)
  return entry
}
const reducedType = (args: readonly Value[], printing: Printing): Type => {
  const { type } = reducerOf(args)
  return typeof type === 'function' ? type(args.slice(1), printing, []) : type
}

const arrayReduce: Named = {
  name: 'arrayReduce',
  args: [2, 2],
  type: reducedType,
  certain: (args) => reducerOf(args).certain?.(args.slice(1)) ?? false,
  duckdb: (args, printing) => reducerOf(args).duckdb(args.slice(1), printing, []),
  clickhouse: (args, printing) => reducerOf(args).clickhouse?.(args.slice(1), printing, []) ?? '',
}

/** The arrays of a fold: what stands between the lambda and the value that it begins with. */
const folded = (args: readonly Value[]) => ({
  lambda: nth(args, 0),
  arrays: args.slice(1, -1),
  start: nth(args, args.length - 1),
})

/** DuckDB reduces a list to one of its items, so each item carries a place for the value so far. */
const arrayFold: Named = {
  name: 'arrayFold',
  args: [3, Infinity],
  takes_lambda: true,
  folds: true,
  type: (args) => folded(args).start.type,
  estimate: (args) =>
    largestOf([{ estimate: folded(args).lambda.estimate }, { estimate: folded(args).start.estimate }]),
  duckdb: (args, printing) => {
    const { lambda, arrays, start } = folded(args)
    const [name = '', ...names] = lambda.lambda?.names ?? []
    if (names.length === 0 || names.length !== arrays.length)
      throw queryError('The lambda of arrayFold takes the value so far and one name for each array.')
    const lists = arrays.map((array) => read('array', array, printing))
    const zipped =
      lists.length === 1 ? `list_transform(${lists[0]}, lambda item: [item])` : call('list_zip', lists)
    const item = (place: number) => (lists.length === 1 ? 'after.items[1]' : `after.items[${place + 1}]`)
    const next = bring({ ...lambda, sql: lambda.sql }, start.type, printing)
    const bound = names.reduceRight(
      (sql, each, place) => `list_transform([${item(place)}], lambda ${each}: ${sql})[1]`,
      `list_transform([before.made], lambda ${name}: ${next})[1]`,
    )
    return once([start.sql, zipped], (first, items) => {
      const steps = `list_transform(${items}, lambda item: {'made': ${first}, 'items': item})`
      const made = `list_reduce(${steps}, lambda before, after: {'made': ${bound}, 'items': after.items}, {'made': ${first}, 'items': ${items}[1]})`
      return `case when len(${items}) = 0 then ${first} else ${made}.made end`
    })
  },
  clickhouse: (args, printing) => {
    const { lambda, arrays, start } = folded(args)
    return call('arrayFold', [
      `(${lambda.lambda?.names.join(', ') ?? ''}) -> ${bring(lambda, start.type, printing)}`,
      ...arrays.map((array) => read('array', array, printing)),
      start.sql,
    ])
  },
}

export const arrayWalkFunctions: readonly Named[] = [
  walk(
    'arrayCumSum',
    sameNumbers,
    (items) => `list_transform(${items}, lambda item, place: list_sum(list_slice(${items}, 1, place)))`,
    numbersIn,
  ),
  walk(
    'arrayDifference',
    sameNumbers,
    (items) =>
      `list_transform(${items}, lambda item, place: case when place = 1 then item - item else item - ${items}[place - 1] end)`,
    numbersIn,
  ),
  walk(
    'arrayProduct',
    FLOAT,
    (items) => `coalesce(list_product(${items}), 1)`,
    numbersIn,
    () => 1,
  ),
  walk(
    'arrayCompact',
    sameArray,
    (items) =>
      `list_filter(${items}, lambda item, place: place = 1 or item is distinct from ${items}[place - 1])`,
    undefined,
    largestOf,
  ),
  walk(
    'arrayEnumerateUniq',
    arrayOf(INTEGER),
    (items) =>
      `list_transform(${items}, lambda item, place:` +
      ` len(list_filter(list_slice(${items}, 1, place), lambda other: other is not distinct from item)))`,
  ),
  countEqual,
  arrayWithConstant,
  arrayReduce,
  arrayFold,
]
