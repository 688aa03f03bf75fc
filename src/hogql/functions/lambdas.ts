// Functions that take `x -> …` over the items of arrays. Some can do without.
import { queryError } from '../errors.ts'
import { asManyAs, itemsOf, largestOf } from '../size-estimate.ts'
import type { Printing, Type, Value } from '../value.ts'
import { isCertain, orDefault } from './certainty.ts'
import { arrayOf, BOOLEAN, call, FLOAT, INTEGER, itemTypeOf, type Named, nth, read } from './define.ts'

/** The items a lambda runs over and how its body is put round them. */
const over = (args: readonly Value[], printing: Printing) => {
  const [first, ...arrays] = args
  const names = first?.lambda?.names
  if (!first || !names) throw queryError('The first argument must be a lambda, such as x -> x + 1.')
  if (arrays.length === 0 || names.length !== arrays.length)
    throw queryError('A lambda takes as many names as there are arrays.')
  const lists = arrays.map((array) => read('array', array, printing))
  if (lists.length === 1)
    return { list: lists[0] ?? '', run: (body: string) => `lambda ${names[0]}: ${body}` }
  // DuckDB hands one item at a time to a lambda: arrays are zipped, and each name gets its part of the pair.
  const bound = (body: string) =>
    names.reduceRight(
      (sql, name, place) => `list_transform([pair[${place + 1}]], lambda ${name}: ${sql})[1]`,
      body,
    )
  return { list: call('list_zip', lists), run: (body: string) => `lambda pair: ${bound(body)}` }
}

const bodyOf = (args: readonly Value[]): Value => {
  const { lambda: _, ...body } = nth(args, 0)
  return body
}

const mapped = (args: readonly Value[], printing: Printing, body: string) => {
  const { list, run } = over(args, printing)
  return `list_transform(${list}, ${run(body)})`
}
const kept = (args: readonly Value[], printing: Printing, body: string) => {
  const { list, run } = over(args, printing)
  return `list_filter(${list}, ${run(body)})`
}

/** The condition of the lambda; one array only, since what is left of a pair would be a pair. */
const filtered = (args: readonly Value[], printing: Printing) => {
  if (args.length !== 2) throw queryError('Only one array can be filtered at a time.')
  return kept(args, printing, printing.boolean(bodyOf(args)))
}

/** `body` is what the lambda gives, where it must be of some kind; without a lambda each item is brought into it. */
const toClickhouse = (
  name: string,
  args: readonly Value[],
  printing: Printing,
  body: (value: Value) => string = ({ sql }) => sql,
) => {
  const arrays = args.filter(({ lambda }) => !lambda).map((value) => read('array', value, printing))
  const names = args[0]?.lambda?.names
  if (names) return call(name, [`(${names.join(', ')}) -> ${body(bodyOf(args))}`, ...arrays])
  const item = body({ sql: 'item', type: itemTypeOf(args[0]) })
  return call(name, item === 'item' ? arrays : [`item -> ${item}`, ...arrays])
}

/** An array with as many items at most, or one of them. */
const oneArray: Named['estimate'] = (args) => largestOf(args.filter((value) => !value.lambda))
const oneItem: Named['estimate'] = (args) => itemsOf(args.find((value) => !value.lambda)).item

const lambda = (
  name: string,
  type: Named['type'],
  duckdb: Named['duckdb'],
  least = 2,
  estimate: Named['estimate'] = oneItem,
  more: { reading?: Reading; certain?: Named['certain'] } = {},
): Named => ({
  name,
  args: [least, Infinity],
  type,
  takes_lambda: true,
  estimate,
  ...(more.certain ? { certain: more.certain } : {}),
  duckdb,
  clickhouse: (args, printing) =>
    toClickhouse(name, args, printing, more.reading && ((value) => more.reading?.(value, printing) ?? '')),
})

type Reading = (value: Value, printing: Printing) => string
const asNumber: Reading = (value, printing) => printing.number(value)
const asCondition: Reading = (value, printing) => printing.boolean(value)
const asComparable: Reading = (value, printing) =>
  value.type.kind === 'property' ? printing.number(value) : value.sql

/** Concerns what is found in the array of items. */
const isItemCertain: Named['certain'] = (args) => isCertain(itemOfSecond(args))
const isResultCertain: Named['certain'] = (args) => isCertain(resultType(args))

const itemOfSecond = (args: readonly Value[]): Type => itemTypeOf(args[1])

/** What is summed up or compared: what the lambda gives, else the items themselves. */
const resultType = (args: readonly Value[]): Type =>
  args[0]?.lambda ? bodyOf(args).type : itemTypeOf(args[0])

const numbers = (args: readonly Value[], printing: Printing): string => {
  if (args[0]?.lambda) return mapped(args, printing, printing.number(bodyOf(args)))
  const array = nth(args, 0)
  const list = read('array', array, printing)
  const item = printing.number({ sql: 'item', type: itemTypeOf(array) })
  return item === 'item' ? list : `list_transform(${list}, lambda item: ${item})`
}

const numberType = (args: readonly Value[]): Type =>
  ['integer', 'boolean'].includes(resultType(args).kind) ? INTEGER : FLOAT

/** Items as they are, so that texts and times have a smallest too; texts of properties count as numbers. */
const comparable = (args: readonly Value[], printing: Printing): string => {
  if (resultType(args).kind === 'property') return numbers(args, printing)
  return args[0]?.lambda ? mapped(args, printing, bodyOf(args).sql) : read('array', nth(args, 0), printing)
}
const comparableType = (args: readonly Value[]): Type =>
  resultType(args).kind === 'property' ? FLOAT : resultType(args)

/** What the lambda gives for each item stands in a list before the smallest is taken. */
const extremeEstimate: Named['estimate'] = (args) =>
  args[0]?.lambda ? asManyAs(args.slice(1), bodyOf(args).estimate ?? 1) : itemsOf(args[0]).item

/** By what the lambda gives, then by the item itself. */
const sorted =
  (sort: 'list_sort' | 'list_reverse_sort'): Named['duckdb'] =>
  (args, printing) => {
    if (!args[0]?.lambda) return `${sort}(${read('array', nth(args, 0), printing)})`
    if (args.length !== 2) throw queryError('Only one array can be sorted at a time.')
    const name = args[0].lambda.names[0] ?? ''
    const keyed = mapped(args, printing, `{'by': ${bodyOf(args).sql}, 'item': ${name}}`)
    return `list_transform(${sort}(${keyed}), lambda keyed: keyed.item)`
  }
const sortedType = (args: readonly Value[]): Type => arrayOf(itemTypeOf(args[0]?.lambda ? args[1] : args[0]))

/** How many, over a lambda or over an array of conditions. */
const count: Named['duckdb'] = (args, printing) => {
  if (args[0]?.lambda) return `len(${kept(args, printing, printing.boolean(bodyOf(args)))})`
  const array = nth(args, 0)
  const item = printing.boolean({ sql: 'item', type: itemTypeOf(array) })
  return `len(list_filter(${read('array', array, printing)}, lambda item: ${item}))`
}

export const lambdaFunctions: readonly Named[] = [
  lambda(
    'arrayMap',
    (args) => arrayOf(bodyOf(args).type),
    (args, printing) => mapped(args, printing, bodyOf(args).sql),
    2,
    (args) => asManyAs(args.slice(1), bodyOf(args).estimate ?? 1),
  ),
  lambda('arrayFilter', (args) => arrayOf(itemOfSecond(args)), filtered, 2, oneArray, {
    reading: asCondition,
  }),
  lambda('arrayExists', BOOLEAN, (args, printing) => `(${count(args, printing, [])} > 0)`, 1, oneItem, {
    reading: asCondition,
    certain: () => true,
  }),
  lambda(
    'arrayAll',
    BOOLEAN,
    (args, printing) =>
      `(len(${kept(args, printing, `not coalesce(${printing.boolean(bodyOf(args))}, false)`)}) = 0)`,
    2,
    oneItem,
    { reading: asCondition, certain: () => true },
  ),
  lambda('arrayCount', INTEGER, count, 1, oneItem, { reading: asCondition, certain: () => true }),
  ...[
    ['arrayFirst', 1],
    ['arrayLast', -1],
  ].map(([name, place]) =>
    lambda(
      String(name),
      itemOfSecond,
      (args, printing) =>
        orDefault(`list_extract(${filtered(args, printing)}, ${place})`, itemOfSecond(args)),
      2,
      oneItem,
      { reading: asCondition, certain: isItemCertain },
    ),
  ),
  lambda(
    'arrayFirstIndex',
    INTEGER,
    (args, printing) =>
      `coalesce(list_position(${mapped(args, printing, printing.boolean(bodyOf(args)))}, true), 0)`,
    2,
    oneItem,
    { reading: asCondition, certain: () => true },
  ),
  lambda(
    'arrayLastIndex',
    INTEGER,
    (args, printing) =>
      `coalesce(list_max(list_transform(${mapped(args, printing, printing.boolean(bodyOf(args)))},` +
      ` lambda hit, place: case when hit then place end)), 0)`,
    2,
    oneItem,
    { reading: asCondition, certain: () => true },
  ),
  ...[
    ['arrayFirstOrNull', 1],
    ['arrayLastOrNull', -1],
  ].map(([name, place]) =>
    lambda(
      String(name),
      itemOfSecond,
      (args, printing) => `list_extract(${filtered(args, printing)}, ${place})`,
      2,
      oneItem,
      { reading: asCondition },
    ),
  ),
  lambda(
    'arraySum',
    numberType,
    (args, printing) => `coalesce(list_sum(${numbers(args, printing)}), 0)`,
    1,
    oneItem,
    { reading: asNumber, certain: () => true },
  ),
  lambda('arrayAvg', FLOAT, (args, printing) => `list_avg(${numbers(args, printing)})`, 1, oneItem, {
    reading: asNumber,
  }),
  lambda(
    'arrayMin',
    comparableType,
    (args, printing) => orDefault(`list_min(${comparable(args, printing)})`, comparableType(args)),
    1,
    extremeEstimate,
    { reading: asComparable, certain: isResultCertain },
  ),
  lambda(
    'arrayMax',
    comparableType,
    (args, printing) => orDefault(`list_max(${comparable(args, printing)})`, comparableType(args)),
    1,
    extremeEstimate,
    { reading: asComparable, certain: isResultCertain },
  ),
  lambda('arraySort', sortedType, sorted('list_sort'), 1, oneArray),
  lambda('arrayReverseSort', sortedType, sorted('list_reverse_sort'), 1, oneArray),
]
