// Trigonometry, logarithms and the like, and functions of bits. Outside of where a function is defined there is NaN.
import { areCertainNumbers } from './certainty.ts'
import { call, define, FLOAT, INTEGER, type Named, nth, once, read, BOOLEAN } from './define.ts'

const NAN = `cast('nan' as double)`

/** `within`: where the function is defined; DuckDB fails elsewhere. */
const float = (name: string, duckdb: string, within?: (x: string) => string, aliases?: string[]) =>
  define(
    name,
    ['number'],
    FLOAT,
    (x) => {
      if (!within) return `${duckdb}(${x})`
      return once(
        [x],
        (it) => `case when ${within(it)} then ${duckdb}(${it}) when ${it} is not null then ${NAN} end`,
      )
    },
    { aliases },
  )

const isSmall = (x: string) => `abs(${x}) <= 1`

const whole = (
  name: string,
  takes: readonly ('integer' | 'integer?')[],
  duckdb: (...x: string[]) => string,
) => define(name, takes, INTEGER, duckdb)

/** Beyond these the results leave 64 bits. */
const FACTORIALS = 20
const POWERS_OF_TEN = 18

/** One of two numbers; both are read as floats. */
const pair = (name: string, duckdb: (x: string, y: string) => string) =>
  define(name, ['number', 'number'], FLOAT, (x, y) =>
    once([`cast(${x} as double)`, `cast(${y} as double)`], duckdb),
  )

/** NaN and infinities are replaced, NULL stays. */
const ifNotFinite: Named = {
  name: 'ifNotFinite',
  args: [2, 2],
  type: FLOAT,
  certain: areCertainNumbers,
  duckdb: (args, printing) =>
    once(
      args.map((value) => `cast(${printing.number(value)} as double)`),
      (x, y) => `case when isfinite(${x}) or ${x} is null then ${x} else ${y} end`,
    ),
  clickhouse: (args, printing) =>
    call('ifNotFinite', [
      `toFloat64(${printing.number(nth(args, 0))})`,
      `toFloat64(${printing.number(nth(args, 1))})`,
    ]),
}

/** Halves go to the even number, of whole numbers too. */
const roundBankers: Named = {
  name: 'roundBankers',
  args: [1, 2],
  type: FLOAT,
  certain: areCertainNumbers,
  duckdb: (args, printing) => {
    const places = args[1] ? `try_cast(${read('integer', args[1], printing)} as integer)` : '0'
    return once(
      [`cast(${printing.number(nth(args, 0))} as double)`, places],
      (x, p) => `round_even(${x} * pow(10, ${p}), 0) / pow(10, ${p})`,
    )
  },
  clickhouse: (args, printing) =>
    call('roundBankers', [
      `toFloat64(${printing.number(nth(args, 0))})`,
      ...args.slice(1).map((value) => read('integer', value, printing)),
    ]),
}

export const mathematicsFunctions: readonly Named[] = [
  float('sin', 'sin'),
  float('cos', 'cos'),
  float('tan', 'tan'),
  float('asin', 'asin', isSmall),
  float('acos', 'acos', isSmall),
  float('atan', 'atan'),
  float('sinh', 'sinh'),
  float('cosh', 'cosh'),
  float('tanh', 'tanh'),
  float('asinh', 'asinh'),
  float('acosh', 'acosh', (x) => `${x} >= 1`),
  define('atanh', ['number'], FLOAT, (x) =>
    once(
      [x],
      (it) =>
        `case when abs(${it}) < 1 then atanh(${it}) when abs(${it}) = 1 then cast('inf' as double) * ${it}` +
        ` when ${it} is not null then ${NAN} end`,
    ),
  ),
  define('log1p', ['number'], FLOAT, (x) =>
    once(
      [x],
      (it) =>
        `case when ${it} > -1 then ln(1 + ${it}) when ${it} = -1 then cast('-inf' as double)` +
        ` when ${it} is not null then ${NAN} end`,
    ),
  ),
  float('degrees', 'degrees'),
  float('radians', 'radians'),
  define('sigmoid', ['number'], FLOAT, (x) => `(1 / (1 + exp(- cast(${x} as double))))`),
  pair('atan2', (y, x) => `atan2(${y}, ${x})`),
  pair('hypot', (x, y) => `sqrt(${x} * ${x} + ${y} * ${y})`),
  pair('max2', (x, y) => `case when ${x} is null or ${y} is null then null else greatest(${x}, ${y}) end`),
  pair('min2', (x, y) => `case when ${x} is null or ${y} is null then null else least(${x}, ${y}) end`),
  ifNotFinite,
  roundBankers,
  whole('positiveModulo', ['integer', 'integer'], (x, y) =>
    once([x, y], (n, by) => `((${n} % abs(${by}) + abs(${by})) % abs(${by}))`),
  ),
  whole('bitNot', ['integer'], (x) => `(~ ${x})`),
  whole('bitShiftLeft', ['integer', 'integer'], (x, by) =>
    once(
      [x, by],
      (n, b) => `case when ${b} between 0 and 62 then try(${n} * cast(pow(2, ${b}) as bigint)) end`,
    ),
  ),
  whole('bitShiftRight', ['integer', 'integer'], (x, by) =>
    once([x, by], (n, b) => `case when ${b} between 0 and 63 then ${n} >> ${b} end`),
  ),
  define('bitTest', ['integer', 'integer'], BOOLEAN, (x, place) =>
    once([x, place], (n, p) => `case when ${p} between 0 and 63 then ((${n} >> ${p}) & 1) = 1 end`),
  ),
  whole('bitCount', ['integer'], (x) => `bit_count(${x})`),
  whole('lcm', ['integer', 'integer'], (x, y) => `try_cast(lcm(${x}, ${y}) as bigint)`),
  whole('factorial', ['integer'], (x) =>
    once(
      [x],
      (n) =>
        `case when ${n} <= 0 then 1 when ${n} <= ${FACTORIALS} then cast(factorial(cast(${n} as integer)) as bigint)` +
        ` when ${n} > ${FACTORIALS} then error('factorial goes up to ${FACTORIALS}') end`,
    ),
  ),
  whole('intExp2', ['integer'], (x) =>
    once([x], (n) => `case when ${n} < 0 then 0 when ${n} <= 62 then cast(pow(2, ${n}) as bigint) end`),
  ),
  whole('intExp10', ['integer'], (x) =>
    once(
      [x],
      (n) => `case when ${n} < 0 then 0 when ${n} <= ${POWERS_OF_TEN} then cast(pow(10, ${n}) as bigint) end`,
    ),
  ),
]
