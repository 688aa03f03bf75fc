// HogQL to ask with: the parser's samples, texts made of every function and column there is, and broken ones of both.
import fc, { type Arbitrary } from 'fast-check'
import { readFileSync } from 'node:fs'
import { aggregates, scalarFunctions, windowFunctions } from '../../src/hogql/functions/catalogue.ts'
import { CASTS, CONSTANTS, FIELDS, ODD_PARTS, OPERATORS, TABLES } from './hogql-words.ts'
import { hostileText, mostly } from './values.ts'

type Called = { name: string; args: readonly [number, number]; params?: readonly [number, number] }

/** As many arguments as it takes, now and then one more or less. */
function callOf(
  { name, args: [fewest, most], params }: Called,
  argument: Arbitrary<string>,
): Arbitrary<string> {
  const few = Math.min(most, fewest + 2)
  const listOf = (minLength: number, maxLength: number, item: Arbitrary<string>) =>
    fc.array(item, { minLength, maxLength }).map((items) => `(${items.join(', ')})`)
  const given = mostly(
    15,
    listOf(fewest, few, argument),
    listOf(0, most === Infinity ? 4 : few + 1, argument),
  )
  const before = params
    ? listOf(
        params[0],
        Math.min(params[1], params[0] + 1),
        fc.constantFrom('0.9', '5', '0', '1', ...CONSTANTS),
      )
    : fc.constant('')
  return fc.tuple(before, given).map(([first, second]) => name + first + second)
}

const { scalar, aggregate, over } = fc.letrec<{
  scalar: string
  argument: string
  lambda: string
  aggregate: string
  over: string
}>((tie) => {
  const leaf = fc.oneof(fc.constantFrom(...FIELDS), fc.constantFrom(...CONSTANTS))
  const oneOf = (functions: readonly Called[], argument: Arbitrary<string>) =>
    fc.oneof(...functions.map((called) => callOf(called, argument)))
  const scalars = Object.values(scalarFunctions)
  const withLambda = scalars.filter((called) => called.takes_lambda)
  const plain = scalars.filter((called) => !called.takes_lambda)
  const inner = tie('scalar')
  return {
    lambda: fc
      .tuple(
        fc.constantFrom(...withLambda),
        inner,
        fc.constantFrom('[1, 2]', 'properties.tags', '[]', "splitByChar(',', event)"),
      )
      .map(([{ name }, body, list]) => `${name}(x -> ${body.replace('event', 'x')}, ${list})`),
    argument: fc.oneof({ depthSize: 'small' }, leaf, inner),
    scalar: fc.oneof(
      { depthSize: 'small', withCrossShrink: false },
      { weight: 6, arbitrary: leaf },
      { weight: 10, arbitrary: oneOf(plain, tie('argument')) },
      { weight: 2, arbitrary: tie('lambda') },
      {
        weight: 3,
        arbitrary: fc
          .tuple(inner, fc.constantFrom(...OPERATORS), inner)
          .map((parts) => `(${parts.join(' ')})`),
      },
      {
        weight: 1,
        arbitrary: fc.tuple(inner, fc.constantFrom(...CASTS)).map(([value, type]) => `(${value})::${type}`),
      },
      { weight: 1, arbitrary: fc.tuple(inner, inner).map(([value, index]) => `(${value})[${index}]`) },
      {
        weight: 1,
        arbitrary: fc.tuple(inner, inner, inner).map(([a, b, c]) => `case when ${a} then ${b} else ${c} end`),
      },
      { weight: 1, arbitrary: inner.map((value) => `(select ${value} from events limit 1)`) },
      { weight: 1, arbitrary: inner.map((value) => `${value} is not null`) },
    ),
    aggregate: fc.oneof(
      { weight: 3, arbitrary: oneOf(Object.values(aggregates), inner) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(oneOf(Object.values(aggregates), inner), inner)
          .map(([call, when]) => call.replace(/^\w+/, '$&If').replace(/\)$/, `, ${when})`)),
      },
    ),
    over: fc
      .tuple(oneOf([...Object.values(windowFunctions), ...Object.values(aggregates)], inner), inner, inner)
      .map(([call, by, order]) => `${call} over (partition by ${by} order by ${order})`),
  }
})

const column = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 3, arbitrary: aggregate },
  { weight: 1, arbitrary: over },
)

const clause = (word: string, value: Arbitrary<string>) =>
  mostly(
    1,
    fc.constant(''),
    value.map((text) => ` ${word} ${text}`),
  )

const listOf = (item: Arbitrary<string>) =>
  fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(', '))
const from = mostly(
  6,
  fc.constant(' from events'),
  fc.constantFrom(...TABLES).map((table) => ` from ${table}`),
)
const limit = clause('limit', fc.constantFrom('1', '0', '5 offset 2', '100000', '2 by event'))

/** Rows as they are, rows brought together, and whatever comes of mixing the two. */
const madeQuery = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(listOf(fc.oneof(scalar, over)), from, clause('where', scalar), clause('order by', scalar), limit)
      .map((parts) => `select ${parts.join('')}`),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(scalar, listOf(aggregate), from, clause('where', scalar), clause('having', aggregate), limit)
      .map(([key, columns, ...rest]) => {
        const [table, where, having, last] = rest
        return `select ${key} as k, ${columns}${table}${where} group by k${having} order by k${last}`
      }),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        listOf(column),
        from,
        clause('where', column),
        clause('group by', scalar),
        clause('having', column),
      )
      .map((parts) => `select ${parts.join('')}`),
  },
)

// Read from the checkout, where npm starts programs and tests: bundled, their own module does not find them.
const samples = ['same-tree.txt', 'not-supported.txt', 'wrong.txt'].flatMap((file) =>
  readFileSync(`src/hogql/fixture/${file}`, 'utf8')
    .split(/^=== /m)
    .map((group) => ({
      rule: group.split(':', 1)[0]!,
      texts: group
        .split('\n')
        .slice(1)
        .filter((line) => line !== ''),
    })),
)
const sampleOf = (rule: 'query' | 'expression') =>
  fc.constantFrom(...samples.filter((sample) => sample.rule === rule).flatMap(({ texts }) => texts))

/** Names that the samples make up, as ones that exist: more of them get past the resolver. */
const settled = (text: string) =>
  text.replace(/\b(from|join) [a-dt]\b/g, '$1 events').replace(/(?<!\bas )\b[a-d]\b(?! *->)/g, 'event')

/** Cut, doubled, spliced, or with something odd in it. */
function mutated(texts: Arbitrary<string>): Arbitrary<string> {
  const place = fc.nat({ max: 1_000 })
  const odd = fc.oneof(fc.constantFrom(...ODD_PARTS), hostileText, fc.constantFrom(...FIELDS, ...CONSTANTS))
  return fc
    .tuple(texts, texts, odd, place, place, fc.nat({ max: 4 }))
    .map(([text, other, part, one, two, how]) => {
      const [from, to] = [one % (text.length + 1), two % (text.length + 1)].sort((a, b) => a - b) as [
        number,
        number,
      ]
      const [before, middle, after] = [text.slice(0, from), text.slice(from, to), text.slice(to)]
      return [
        before + after,
        before + middle + middle + after,
        before + part + after,
        before + other,
        text.replace(/\w+/, part),
      ][how]!
    })
}

const repeated = fc
  .tuple(
    fc.constantFrom('(', 'not ', '-', '[', 'lower(', '(select ', 'event and ', 'event, ', "'a' || "),
    fc.nat({ max: 3_000 }),
  )
  .map(([part, times]) => `select ${part.repeat(times)}`)

export const goodQueryText: Arbitrary<string> = fc.oneof(
  { weight: 1, arbitrary: sampleOf('query').map(settled) },
  { weight: 2, arbitrary: madeQuery },
)
export const wildQueryText: Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: mutated(goodQueryText) },
  { weight: 2, arbitrary: sampleOf('query') },
  { weight: 1, arbitrary: hostileText },
  { weight: 1, arbitrary: repeated },
)
export const goodColumn: Arbitrary<string> = fc.oneof(
  column,
  fc.constantFrom('*', 'person', 'event -- Name', 'count()'),
  sampleOf('expression').map(settled),
)
export const goodCondition: Arbitrary<string> = fc.oneof(
  scalar,
  fc.constantFrom("event = '$pageview'", 'properties.amount > 4', 'count() > 1'),
)
export const wildExpression: Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: mutated(fc.oneof(column, sampleOf('expression'))) },
  { weight: 2, arbitrary: sampleOf('expression') },
  { weight: 1, arbitrary: hostileText },
)
