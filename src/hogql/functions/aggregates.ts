// Aggregates. Each prints as `name(…)`, with no more than a FILTER of its own behind: the compiler adds to both.
import { queryError } from '../errors.ts'
import { areCertain, areCertainNumbers, defaultOf, withCertainty } from './certainty.ts'
import { collected } from '../size-estimate.ts'
import type { Printing, Type, Value } from '../value.ts'
import { arrayOf, call, FLOAT, INTEGER, type Named, nth, tuple } from './define.ts'
import type { Aggregate } from './function.ts'

type NamedAggregate = Named<Aggregate>

const NAN = `cast('nan' as double)`

/** Over no rows there is a default in the place of NULL. */
const defaulted = {
  certain: areCertain,
  orElse: (args: readonly Value[], type: Type) => (areCertain(args) ? defaultOf(type) : null),
}

const typeOfFirst = (args: readonly Value[]): Type => nth(args, 0).type

/** Texts of properties are compared as numbers, everything else as it is. */
const comparable = (value: Value, printing: Printing) =>
  value.type.kind === 'property' ? printing.number(value) : value.sql
const comparableType = (value: Value): Type => (value.type.kind === 'property' ? FLOAT : value.type)

const ofNumbers = (
  name: string,
  duckdb: string,
  count: number,
  type: Aggregate['type'] = FLOAT,
  aliases?: string[],
): NamedAggregate => {
  const numbers = (args: readonly Value[], printing: Printing) => args.map((value) => printing.number(value))
  return {
    name,
    aliases,
    args: [count, count],
    type,
    certain: areCertainNumbers,
    orElse: (args, result) =>
      areCertainNumbers(args)
        ? result.kind === 'integer' || name === 'sum'
          ? defaultOf(result)
          : NAN
        : null,
    duckdb: (args, printing) => call(duckdb, numbers(args, printing)),
    clickhouse: (args, printing) => call(name, numbers(args, printing)),
  }
}

const extreme = (name: 'min' | 'max'): NamedAggregate => ({
  name,
  args: [1, 1],
  type: (args) => comparableType(nth(args, 0)),
  ...defaulted,
  duckdb: (args, printing) => call(name, [comparable(nth(args, 0), printing)]),
  clickhouse: (args, printing) => call(name, [comparable(nth(args, 0), printing)]),
})

/** The first argument where the second is greatest or smallest. */
const argument = (name: string, duckdb: string): NamedAggregate => ({
  name,
  args: [2, 2],
  type: typeOfFirst,
  ...defaulted,
  duckdb: (args, printing) => call(duckdb, [nth(args, 0).sql, comparable(nth(args, 1), printing)]),
  clickhouse: (args, printing) => call(name, [nth(args, 0).sql, comparable(nth(args, 1), printing)]),
})

/** Exact on DuckDB under every name. A combination with NULL in it does not count. */
const distinct = (name: string, aliases: string[] = []): NamedAggregate => ({
  name,
  aliases,
  args: [1, Infinity],
  type: INTEGER,
  certain: () => true,
  duckdb: (args, printing) => {
    const texts = args.map((value) => value.sql)
    if (texts.length === 1) return `count(DISTINCT ${texts[0]})`
    const areThere = texts.map((sql) => `${sql} IS NOT NULL`).join(' AND ')
    return `count(DISTINCT ${tuple(texts, printing)}) FILTER (WHERE ${areThere})`
  },
})

/** The most items that `groupArray(n)` keeps. */
const MOST_KEPT = 10_000

/** The engine would keep NULLs; HogQL leaves them out. */
const skippingNull = (
  name: string,
  duckdb: (sql: string) => string,
  more: Pick<NamedAggregate, 'type' | 'orElse' | 'certain' | 'estimate' | 'duckdb_over'> & {
    aliases?: string[] | undefined
  },
): NamedAggregate => ({
  name,
  args: [1, 1],
  ...more,
  duckdb: (args) => `${duckdb(nth(args, 0).sql)} FILTER (WHERE ${nth(args, 0).sql} IS NOT NULL)`,
})

/** `groupArray(10)(x)` keeps the first ten. */
const gathered = (name: string, duckdb: (sql: string) => string, aliases?: string[]): NamedAggregate => ({
  ...skippingNull(name, duckdb, { type: arrayOfFirst, orElse: '[]', aliases, estimate: collectedFirst }),
  params: [0, 1],
  finish: (sql, _args, params) => (params[0] ? `list_slice(${sql}, 1, ${keptOf(params[0])})` : sql),
  clickhouse: (args, _, params) => `${name}${params[0] ? `(${keptOf(params[0])})` : ''}(${nth(args, 0).sql})`,
})
const keptOf = ({ constant }: Value): number => {
  if (typeof constant !== 'number' || !Number.isInteger(constant) || constant < 1 || constant > MOST_KEPT)
    throw queryError(`The number of items is a whole number from 1 to ${MOST_KEPT}.`)
  return constant
}

const arrayOfFirst = (args: readonly Value[]) => arrayOf(withCertainty(typeOfFirst(args), true))

const collectedFirst: Aggregate['estimate'] = ([first]) => collected(first?.estimate)

const MOST_TOP = 1000

const topSize = (value: Value | undefined): number => {
  const size = value ? value.constant : 10
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 1 || size > MOST_TOP)
    throw queryError(`topK takes a whole number from 1 to ${MOST_TOP}.`)
  return size
}

const topK: NamedAggregate = {
  name: 'topK',
  args: [1, 1],
  params: [0, 1],
  type: arrayOfFirst,
  estimate: ([first], params) => ({ count: topSize(params[0]), item: first?.estimate ?? 1 }),
  orElse: '[]',
  duckdb: (args, _, params) => call('approx_top_k', [nth(args, 0).sql, String(topSize(params[0]))]),
  clickhouse: (args, _, params) => `topK(${topSize(params[0])})(${nth(args, 0).sql})`,
}

const sumType = (args: readonly Value[]): Type =>
  ['integer', 'boolean'].includes(nth(args, 0).type.kind) ? INTEGER : FLOAT

export const aggregateFunctions: readonly NamedAggregate[] = [
  {
    name: 'count',
    args: [0, 1],
    type: INTEGER,
    certain: () => true,
    duckdb: (args) => `count(${args[0]?.sql ?? '*'})`,
  },
  distinct('uniq', ['uniqCombined', 'uniqCombined64', 'uniqHLL12', 'uniqTheta']),
  distinct('uniqExact', ['countDistinct']),
  ofNumbers('sum', 'sum', 1, sumType),
  ofNumbers('avg', 'avg', 1),
  extreme('min'),
  extreme('max'),
  {
    name: 'any',
    aliases: ['any_value', 'anyHeavy'],
    args: [1, 1],
    type: typeOfFirst,
    ...defaulted,
    duckdb: (args) => `any_value(${nth(args, 0).sql})`,
  },
  skippingNull('anyLast', (sql) => `last(${sql})`, {
    type: typeOfFirst,
    ...defaulted,
    duckdb_over: (sql) => `last(${sql} IGNORE NULLS)`,
  }),
  argument('argMax', 'arg_max'),
  argument('argMin', 'arg_min'),
  gathered('groupArray', (sql) => `list(${sql})`, ['array_agg']),
  gathered('groupUniqArray', (sql) => `list(DISTINCT ${sql})`),
  {
    name: 'avgWeighted',
    args: [2, 2],
    type: FLOAT,
    certain: areCertainNumbers,
    orElse: (args) => (areCertainNumbers(args) ? NAN : null),
    // Pairs of product and weight, so that both sums stand in one aggregate with one FILTER.
    finish: (sql) =>
      `list_transform([${sql}], lambda pairs: list_sum(list_transform(pairs, lambda pair: pair[1]))` +
      ` / list_sum(list_transform(pairs, lambda pair: pair[2])))[1]`,
    duckdb: (args, printing) => {
      const [value, weight] = args.map((each) => `cast(${printing.number(each)} as double)`)
      return `list([${value} * ${weight}, ${weight}]) FILTER (WHERE ${value} IS NOT NULL AND ${weight} IS NOT NULL)`
    },
    clickhouse: (args, printing) =>
      call(
        'avgWeighted',
        args.map((each) => printing.number(each)),
      ),
  },
  ...(['and', 'or', 'xor'] as const).map((word) =>
    ofNumbers(`groupBit${word.slice(0, 1).toUpperCase()}${word.slice(1)}`, `bit_${word}`, 1, INTEGER),
  ),

  ofNumbers('median', 'median', 1),
  topK,
  ofNumbers('stddevPop', 'stddev_pop', 1, FLOAT, ['stddev_pop']),
  ofNumbers('stddevSamp', 'stddev_samp', 1, FLOAT, ['stddev_samp', 'stddev']),
  ofNumbers('varPop', 'var_pop', 1, FLOAT, ['var_pop']),
  ofNumbers('varSamp', 'var_samp', 1, FLOAT, ['var_samp']),
  ofNumbers('covarPop', 'covar_pop', 2, FLOAT, ['covar_pop']),
  ofNumbers('covarSamp', 'covar_samp', 2, FLOAT, ['covar_samp']),
  ofNumbers('corr', 'corr', 2),
]
