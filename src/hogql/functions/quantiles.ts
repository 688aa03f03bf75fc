// Quantiles. Between two numbers they are interpolated, except for the exact ones, which are one of the numbers.
import { queryError } from '../errors.ts'
import { collected } from '../size-estimate.ts'
import type { Printing, Type, Value } from '../value.ts'
import { areCertainNumbers, defaultOf, withCertainty } from './certainty.ts'
import { arrayOf, call, FLOAT, INTEGER, type Named, nth } from './define.ts'
import type { Aggregate } from './function.ts'

type NamedAggregate = Named<Aggregate>

const NAN = `cast('nan' as double)`

const level = (value: Value): number => {
  const { constant } = value
  if (typeof constant !== 'number' || !(constant >= 0 && constant <= 1))
    throw queryError('The level of a quantile is a constant from 0 to 1.')
  return constant
}
const levelsOf = (params: readonly Value[]): readonly number[] =>
  params.length > 0 ? params.map(level) : [0.5]

const toClickhouse =
  (name: string): Aggregate['duckdb'] =>
  (args, printing, params) =>
    `${name}(${levelsOf(params).join(', ')})(${printing.number(nth(args, 0))})`

const interpolated = (name: string): NamedAggregate => ({
  name,
  args: [1, 1],
  params: [0, 1],
  type: FLOAT,
  certain: areCertainNumbers,
  orElse: (args) => (areCertainNumbers(args) ? NAN : null),
  duckdb: (args, printing, params) => {
    const [first = 0.5] = levelsOf(params)
    return call('quantile_cont', [printing.number(nth(args, 0)), `cast(${printing.bind(first)} as double)`])
  },
  clickhouse: toClickhouse(name),
})

const manyInterpolated = (name: string): NamedAggregate => ({
  name,
  args: [1, 1],
  params: [1, 100],
  type: arrayOf(FLOAT),
  finish: (sql, _args, params) => `coalesce(${sql}, [${params.map(() => NAN).join(', ')}])`,
  duckdb: (args, printing, params) => {
    const levels = levelsOf(params).map((each) => `cast(${printing.bind(each)} as double)`)
    return call('quantile_cont', [printing.number(nth(args, 0)), `[${levels.join(', ')}]`])
  },
  clickhouse: toClickhouse(name),
})

const wholeOrFloat = (args: readonly Value[]): Type =>
  withCertainty(
    ['integer', 'boolean'].includes(nth(args, 0).type.kind) ? INTEGER : FLOAT,
    areCertainNumbers(args),
  )

/** ClickHouse counts from the start: of six numbers the median is the fourth, where DuckDB's own takes the third. */
const numberAt = (args: readonly Value[], at: number): string => {
  const place = `cast(least(floor(${at} * len(sorted)), len(sorted) - 1) as bigint) + 1`
  const type = wholeOrFloat(args)
  const otherwise = type.kind === 'float' && areCertainNumbers(args) ? NAN : defaultOf(type)
  return otherwise === null ? `sorted[${place}]` : `coalesce(sorted[${place}], ${otherwise})`
}

const collectedNumbers = (args: readonly Value[], printing: Printing): string => {
  const number = printing.number(nth(args, 0))
  return `list(${number}) FILTER (WHERE ${number} IS NOT NULL)`
}

const exact = (name: string, is_many: boolean): NamedAggregate => ({
  name,
  args: [1, 1],
  params: is_many ? [1, 100] : [0, 1],
  type: (args) => (is_many ? arrayOf(wholeOrFloat(args)) : wholeOrFloat(args)),
  certain: areCertainNumbers,
  estimate: ([first]) => collected(first?.estimate),
  duckdb: collectedNumbers,
  finish: (sql, args, params) => {
    const found = levelsOf(params).map((each) => numberAt(args, each))
    return `list_transform([list_sort(${sql})], lambda sorted: ${is_many ? `[${found.join(', ')}]` : found[0]})[1]`
  },
  clickhouse: toClickhouse(name),
})

export const quantileFunctions: readonly NamedAggregate[] = [
  interpolated('quantile'),
  manyInterpolated('quantiles'),
  exact('quantileExact', false),
  exact('quantilesExact', true),
]
