// Conditions, NULL, comparisons as functions, tuples.
import { queryError } from '../errors.ts'
import { largestOf } from '../size-estimate.ts'
import type { Printing, Type, Value } from '../value.ts'
import { areCertain } from './certainty.ts'
import { bring, commonType, unify } from './common-type.ts'
import {
  arrayOf,
  BOOLEAN,
  both,
  call,
  define,
  itemTypeOf,
  type Named,
  nth,
  once,
  read,
  tuple,
  UNKNOWN,
  UUID,
} from './define.ts'

const isCertainValue = (value: Value) => areCertain([value])

const condition = (value: Value, printing: Printing) => read('boolean', value, printing)

/** `c1, v1, c2, v2, …, otherwise` taken apart. */
const branches = (args: readonly Value[], name: string) => {
  if (args.length % 2 === 0) throw queryError(`'${name}' takes pairs of condition and value, then one value.`)
  const pairs = args.slice(0, -1)
  return {
    whens: pairs.filter((_, index) => index % 2 === 0),
    results: [...pairs.filter((_, index) => index % 2 === 1), ...args.slice(-1)],
  }
}

const cases = (subject: string, whens: readonly string[], results: readonly string[]) => {
  const lines = whens.map((when, index) => `when ${when} then ${results[index]}`)
  return `(case ${subject}${lines.join(' ')} else ${results.at(-1)} end)`
}

const multiIf: Named = {
  name: 'multiIf',
  args: [3, Infinity],
  estimate: largestOf,
  type: (args) => commonType(branches(args, 'multiIf').results),
  certain: (args) => areCertain(branches(args, 'multiIf').results),
  ...both((args, printing) => {
    const { whens, results } = branches(args, 'multiIf')
    const conditions = whens.map((when) => condition(when, printing))
    return cases('', conditions, unify(results, printing).texts)
  }),
}

const withExpression = (args: readonly Value[]) => {
  const { whens, results } = branches(args.slice(1), 'CASE')
  return { compared: [nth(args, 0), ...whens], results }
}

const caseWithExpression: Named = {
  name: 'caseWithExpression',
  aliases: ['_caseWithExpression'],
  args: [4, Infinity],
  estimate: largestOf,
  type: (args) => commonType(withExpression(args).results),
  certain: (args) => areCertain(withExpression(args).results),
  ...both((args, printing) => {
    const { compared, results } = withExpression(args)
    const [subject, ...whens] = unify(compared, printing).texts
    return cases(`${subject} `, whens, unify(results, printing).texts)
  }),
}

/** Gives back one of its arguments. */
const oneOf = (
  name: string,
  args: Named['args'],
  duckdb: (...texts: string[]) => string,
  aliases?: string[],
): Named => ({
  name,
  aliases,
  args,
  type: commonType,
  certain: name === 'nullIf' ? () => false : (values) => values.some(isCertainValue),
  estimate: largestOf,
  duckdb: (values, printing) => duckdb(...unify(values, printing).texts),
  clickhouse: (values, printing) => call(name, unify(values, printing).texts),
})

/** NULLs are passed over. */
const extreme = (name: 'least' | 'greatest') => oneOf(name, [1, Infinity], (...texts) => call(name, texts))

/** As the operators: where NULL is compared the answer is false. */
const comparison = (name: string, operator: string): Named => ({
  name,
  args: [2, 2],
  type: BOOLEAN,
  certain: () => true,
  duckdb: (args, printing) => `coalesce(${unify(args, printing).texts.join(` ${operator} `)}, false)`,
  clickhouse: (args, printing) => `ifNull(${call(name, unify(args, printing).texts)}, false)`,
})

/** As `=` and `!=`: NULL and something else are not equal. */
const equality = (name: 'equals' | 'notEquals'): Named => {
  const isEqual = name === 'equals'
  return {
    name,
    args: [2, 2],
    type: BOOLEAN,
    certain: () => true,
    duckdb: (args, printing) =>
      `(${unify(args, printing).texts.join(` is ${isEqual ? 'not ' : ''}distinct from `)})`,
    clickhouse: (args, printing) => {
      const known = args.filter(({ type }) => type.kind !== 'null').map(({ sql }) => sql)
      if (known.length < 2) return call(isEqual ? 'isNull' : 'isNotNull', [known[0] ?? 'NULL'])
      return `ifNull(${call(name, unify(args, printing).texts)}, ${!isEqual})`
    },
  }
}

const connective = (name: 'and' | 'or') =>
  define(name, ['boolean', 'boolean', 'boolean*'], BOOLEAN, (...texts) => `(${texts.join(` ${name} `)})`)

const unchanged = (name: string): Named => ({
  name,
  args: [1, 1],
  type: (args) => nth(args, 0).type,
  estimate: largestOf,
  duckdb: (args) => nth(args, 0).sql,
})

/** `transform(x, from, to, otherwise)`: x itself where there is no fourth argument. */
const transform: Named = {
  name: 'transform',
  args: [3, 4],
  type: (args) => transformed(args),
  duckdb: (args, printing) => {
    const value = nth(args, 0)
    const [from, to] = [arrayOfItems(nth(args, 1), printing), arrayOfItems(nth(args, 2), printing)]
    const sought = bring(value, itemTypeOf(from), printing)
    const type = transformed(args)
    const found = (subject: string) => `list_extract(${to.sql}, list_position(${from.sql}, ${subject}))`
    if (args[3]) {
      const item = bring({ sql: found(sought), type: itemTypeOf(to) }, type, printing)
      return `coalesce(${item}, ${bring(args[3], type, printing)})`
    }
    return once([value.sql, from.sql, to.sql], (v, f, t) => {
      const itself = { ...value, sql: v }
      const place = `list_position(${f}, ${bring(itself, itemTypeOf(from), printing)})`
      const item = bring({ sql: `list_extract(${t}, ${place})`, type: itemTypeOf(to) }, type, printing)
      return `coalesce(${item}, ${bring(itself, type, printing)})`
    })
  },
}

const arrayOfItems = (value: Value, printing: Printing): Value => ({
  sql: read('array', value, printing),
  type: arrayOf(itemTypeOf(value)),
})
const transformed = (args: readonly Value[]): Type =>
  commonType([args[3] ?? nth(args, 0), { sql: '', type: itemTypeOf(nth(args, 2)) }])

const tupleElement: Named = {
  name: 'tupleElement',
  args: [2, 2],
  type: (args) => {
    const { type } = nth(args, 0)
    return (type.kind === 'tuple' ? type.items[placeIn(args) - 1] : undefined) ?? UNKNOWN
  },
  duckdb: (args) => `struct_extract_at(${nth(args, 0).sql}, ${placeIn(args)})`,
  clickhouse: (args) => `tupleElement(${nth(args, 0).sql}, ${placeIn(args)})`,
}

const placeIn = (args: readonly Value[]): number => {
  const { constant } = nth(args, 1)
  if (typeof constant !== 'number' || !Number.isInteger(constant) || constant < 1)
    throw queryError('The place in a tuple must be a whole number from 1.')
  return constant
}

export const logicFunctions: readonly Named[] = [
  {
    name: 'if',
    args: [3, 3],
    estimate: largestOf,
    type: (args) => commonType(args.slice(1)),
    certain: (args) => areCertain(args.slice(1)),
    ...both((args, printing) =>
      cases('', [condition(nth(args, 0), printing)], unify(args.slice(1), printing).texts),
    ),
  },
  multiIf,
  caseWithExpression,
  oneOf('coalesce', [1, Infinity], (...texts) => call('coalesce', texts)),
  oneOf('ifNull', [2, 2], (...texts) => call('coalesce', texts)),
  {
    name: 'nullIf',
    args: [2, 2],
    estimate: largestOf,
    type: (args) => commonType(args),
    ...both((args, printing) => call('nullif', unify(args, printing).texts)),
  },
  define('isNull', ['any'], BOOLEAN, (value) => `(${value} is null)`, { certain: () => true }),
  define('isNotNull', ['any'], BOOLEAN, (value) => `(${value} is not null)`, { certain: () => true }),
  unchanged('assumeNotNull'),
  unchanged('toNullable'),
  define('not', ['boolean'], BOOLEAN, (value) => `(not ${value})`),
  connective('and'),
  connective('or'),
  define('xor', ['boolean', 'boolean'], BOOLEAN, (left, right) => `(${left} <> ${right})`),
  equality('equals'),
  equality('notEquals'),
  comparison('less', '<'),
  comparison('lessOrEquals', '<='),
  comparison('greater', '>'),
  comparison('greaterOrEquals', '>='),
  extreme('least'),
  extreme('greatest'),
  transform,
  {
    name: 'tuple',
    args: [1, Infinity],
    type: (args) => ({ kind: 'tuple', items: args.map((value) => value.type) }),
    ...both((args, printing) =>
      tuple(
        args.map((value) => value.sql),
        printing,
      ),
    ),
  },
  tupleElement,
  define('generateUUIDv4', [], UUID, () => 'uuid()'),
]
