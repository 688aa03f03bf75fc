// Arithmetic and rounding. Where a function has no value, ClickHouse gives nan or inf; DuckDB would fail.
import { queryError } from '../errors.ts'
import { areCertainNumbers } from './certainty.ts'
import type { Printing, Type, Value } from '../value.ts'
import { BOOLEAN, both, call, define, FLOAT, INTEGER, type Named, nth, once, read } from './define.ts'

const NAN = `cast('nan' as double)`
const MINUS_INFINITY = `cast('-inf' as double)`

const float = (name: string, duckdb: string, aliases?: string[]) =>
  define(name, ['number'], FLOAT, (x) => `${duckdb}(${x})`, { aliases })

const logarithm = (name: string, duckdb: string, aliases?: string[]) =>
  define(
    name,
    ['number'],
    FLOAT,
    (x) =>
      once(
        [x],
        (it) =>
          `case when ${it} > 0 then ${duckdb}(${it}) when ${it} = 0 then ${MINUS_INFINITY}` +
          ` when ${it} < 0 then ${NAN} end`,
      ),
    { aliases },
  )

/** Whole numbers stay whole. */
const sameKind = (args: readonly Value[]): Type =>
  args.every(({ type }) => type.kind === 'integer' || type.kind === 'boolean') ? INTEGER : FLOAT

/**
 * `round(x)` and `round(x, places)`, by shifting the point. Halves go to the even number, except for whole numbers, which
 * stay whole.
 */
const rounding = (name: string, duckdb: 'round' | 'floor' | 'ceil' | 'trunc', aliases?: string[]): Named => ({
  name,
  aliases,
  args: [1, 2],
  type: (args) => sameKind(args.slice(0, 1)),
  certain: areCertainNumbers,
  duckdb: (args, printing) => {
    const x = printing.number(nth(args, 0))
    const isWhole = sameKind(args.slice(0, 1)).kind === 'integer'
    const plain = (n: string) => (duckdb === 'round' ? `round_even(${n}, 0)` : `${duckdb}(${n})`)
    if (!args[1]) return isWhole ? x : plain(x)
    const places = `try_cast(${read('integer', args[1], printing)} as integer)`
    if (isWhole && duckdb === 'round') return `round(${x}, ${places})`
    const shifted = once([x, places], (n, p) => `${plain(`${n} * pow(10, ${p})`)} / pow(10, ${p})`)
    return isWhole ? `try_cast(${shifted} as bigint)` : shifted
  },
  clickhouse: (args, printing) => call(name, roundingArguments(args, printing)),
})

const roundingArguments = (args: readonly Value[], printing: Printing) => [
  printing.number(nth(args, 0)),
  ...args.slice(1).map((value) => read('integer', value, printing)),
]

const TIMES: ReadonlySet<Type['kind']> = new Set<Type['kind']>(['datetime', 'date', 'interval'])

/** Numbers only: times and intervals are for the operators. */
const arithmetic = (name: string, operator: '+' | '-' | '*' | '/' | '%', aliases?: string[]): Named => ({
  name,
  aliases,
  args: [2, 2],
  type: (args) => (operator === '/' ? FLOAT : sameKind(args)),
  certain: areCertainNumbers,
  ...both((args, printing) => {
    if (args.some(({ type }) => TIMES.has(type.kind)))
      throw queryError(`'${name}' takes numbers; write ${operator} between times and intervals.`)
    return `(${args.map((value) => printing.number(value)).join(` ${operator} `)})`
  }),
})

const whole = (name: string, duckdb: (left: string, right: string) => string) =>
  define(name, ['integer', 'integer'], INTEGER, duckdb)

const test = (name: string, duckdb: string) =>
  define(name, ['number'], BOOLEAN, (x) => `${duckdb}(cast(${x} as double))`)

export const numberFunctions: readonly Named[] = [
  arithmetic('plus', '+'),
  arithmetic('minus', '-'),
  arithmetic('multiply', '*'),
  arithmetic('divide', '/'),
  arithmetic('modulo', '%', ['mod']),
  {
    name: 'negate',
    args: [1, 1],
    type: sameKind,
    certain: areCertainNumbers,
    ...both((args, printing) => `(- ${printing.number(nth(args, 0))})`),
  },
  // Both sides are cut to whole numbers first, and the result goes towards zero; over zero there is nothing.
  whole('intDiv', (left, right) => `(${left} // ${right})`),
  define('intDivOrZero', ['integer', 'integer'], INTEGER, (left, right) =>
    once([left, right], (x, y) => `case when ${y} = 0 then ${x} * 0 else ${x} // ${y} end`),
  ),
  {
    name: 'moduloOrZero',
    args: [2, 2],
    type: sameKind,
    certain: areCertainNumbers,
    duckdb: (args, printing) =>
      once(
        args.map((value) => printing.number(value)),
        (x, y) => `case when ${y} = 0 then ${x} * 0 else ${x} % ${y} end`,
      ),
    clickhouse: (args, printing) =>
      call(
        'moduloOrZero',
        args.map((value) => printing.number(value)),
      ),
  },
  whole('bitAnd', (left, right) => `(${left} & ${right})`),
  whole('bitOr', (left, right) => `(${left} | ${right})`),
  whole('bitXor', (left, right) => `xor(${left}, ${right})`),
  whole('gcd', (left, right) => `gcd(${left}, ${right})`),
  rounding('round', 'round'),
  rounding('floor', 'floor'),
  rounding('ceil', 'ceil', ['ceiling']),
  rounding('trunc', 'trunc', ['truncate']),
  {
    name: 'abs',
    args: [1, 1],
    type: sameKind,
    certain: areCertainNumbers,
    ...both((args, printing) => `abs(${printing.number(nth(args, 0))})`),
  },
  define('sign', ['number'], INTEGER, (x) => `sign(${x})`),
  define('sqrt', ['number'], FLOAT, (x) =>
    once([x], (it) => `case when ${it} >= 0 then sqrt(${it}) when ${it} < 0 then ${NAN} end`),
  ),
  float('cbrt', 'cbrt'),
  float('exp', 'exp'),
  define('exp2', ['number'], FLOAT, (x) => `pow(2, ${x})`),
  define('exp10', ['number'], FLOAT, (x) => `pow(10, ${x})`),
  logarithm('log', 'ln', ['ln']),
  logarithm('log2', 'log2'),
  logarithm('log10', 'log10'),
  define('pow', ['number', 'number'], FLOAT, (x, y) => `pow(${x}, ${y})`, { aliases: ['power'] }),
  define('pi', [], FLOAT, () => 'pi()'),
  define('e', [], FLOAT, () => 'exp(1)'),
  test('isNaN', 'isnan'),
  test('isFinite', 'isfinite'),
  test('isInfinite', 'isinf'),
  define('rand', [], INTEGER, () => 'cast(floor(random() * 4294967296) as bigint)', {
    aliases: ['rand32'],
  }),
]
