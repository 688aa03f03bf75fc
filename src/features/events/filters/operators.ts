// The operators of property filters. Each is a test that holds where the property passes; those that say "not" hold
// wherever that test does not, also where there is no such property.
import type { CompareOperator, Expr } from '../../../hogql/ast.ts'
import { allOf, anyOf, call, compare, constant } from '../tree.ts'
import type { Complain, Subject, Test } from './condition.ts'
import { dateTest, DATE_TESTS, laterOrEarlier } from './dates.ts'
import { isRe2 } from './re2.ts'
import { comparableNumberOf, numberOf, textsOf } from './values.ts'

export type Operator = {
  /** Reads the filter's value; complains about one that the operator cannot use. */
  test(value: unknown, complain: Complain): Test
  is_negated?: true
  takes_no_value?: true
}

type ReadTest = Operator['test']

const number = ({ expr }: Subject): Expr => call('toFloat', expr)
const oneOf = (left: Expr, values: readonly (string | number)[]): Expr =>
  compare(left, 'in', { node: 'Tuple', exprs: values.map(constant) })
const anyTest = (tests: readonly Test[]): Test =>
  tests.length === 0
    ? () => constant(false)
    : (subject, context) => anyOf(...tests.map((test) => test(subject, context)))

const equalsAny: ReadTest = (value, complain) => {
  const texts = textsOf(value, complain)
  const numbers = texts.map(comparableNumberOf).filter((each) => each !== null)
  return (subject) => {
    if (texts.length === 0) return constant(false)
    const isText = oneOf(subject.expr, texts)
    return numbers.length === 0 ? isText : anyOf(isText, oneOf(number(subject), numbers))
  }
}

const equalsAnyOfList: ReadTest = (value, complain) => {
  if (!Array.isArray(value)) throw complain('This operator takes a list of values.')
  return equalsAny(value, complain)
}

const contains: ReadTest = (value, complain) => {
  const patterns = textsOf(value, complain).map((text) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`)
  return anyTest(
    patterns.map(
      (pattern) =>
        ({ expr }) =>
          compare(expr, 'ilike', constant(pattern)),
    ),
  )
}

const matches =
  (when_unreadable: boolean): ReadTest =>
  (value, complain) => {
    const patterns = textsOf(value, complain)
    return anyTest(
      patterns.map((pattern) =>
        isRe2(pattern)
          ? ({ expr }) => call('match', expr, constant(pattern))
          : () => constant(when_unreadable),
      ),
    )
  }

/** Engines take `nan` and `infinity` for numbers, and sort NaN above all others. */
const finite = (operator: CompareOperator, subject: Subject): Expr =>
  operator.startsWith('>')
    ? compare(number(subject), '<=', constant(Number.MAX_VALUE))
    : compare(number(subject), '>=', constant(-Number.MAX_VALUE))

const compares =
  (operator: CompareOperator): ReadTest =>
  (value, complain) => {
    const tests = textsOf(value, complain).map((text): Test => {
      const limit = numberOf(text)
      if (limit === null) return laterOrEarlier(text, operator, complain)
      return (subject) =>
        allOf([compare(number(subject), operator, constant(limit)), finite(operator, subject)])!
    })
    return anyTest(tests)
  }

const isBetween =
  (is_outside: boolean): ReadTest =>
  (value, complain) => {
    const limits = Array.isArray(value) ? textsOf(value, complain).map(numberOf) : []
    const [low, high] = limits
    if (limits.length !== 2 || typeof low !== 'number' || typeof high !== 'number' || low > high) {
      throw complain('This operator takes two numbers, the smaller one first.')
    }
    return (subject) => {
      const expr = number(subject)
      if (!is_outside) return { node: 'BetweenExpr', expr, low: constant(low), high: constant(high) }
      const below = allOf([compare(expr, '<', constant(low)), finite('<', subject)])!
      const above = allOf([compare(expr, '>', constant(high)), finite('>', subject)])!
      return anyOf(below, above)
    }
  }

const isSet: ReadTest =
  () =>
  ({ expr }) =>
    compare(expr, '!=', constant(null))

const VERSION = String.raw`^\s*v?(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?(?:[-+.].*)?\s*$`
const PLACE = 1_000_000

/** Three numbers as one, so that engines compare versions as they compare numbers. What follows a `-` does not count. */
const comparesVersion =
  (operator: CompareOperator): ReadTest =>
  (value, complain) => {
    const tests = textsOf(value, complain).map((text): Test => {
      const [, ...parts] = new RegExp(VERSION).exec(text) ?? []
      if (parts.length === 0) throw complain('The value must be a version such as 1.2.3.')
      const [major, minor, patch] = parts.map((part) => Number(part ?? 0))
      const version = (major! * PLACE + minor!) * PLACE + patch!
      return ({ expr }) => compare(versionOf(expr), operator, constant(version))
    })
    return anyTest(tests)
  }

function versionOf(expr: Expr): Expr {
  const part = (place: number) =>
    call('toIntOrZero', call('replaceRegexpOne', expr, constant(VERSION), constant(`\\${place}`)))
  const times = (left: Expr): Expr => ({ node: 'ArithmeticOperation', op: '*', left, right: constant(PLACE) })
  const plus = (left: Expr, right: Expr): Expr => ({ node: 'ArithmeticOperation', op: '+', left, right })
  const version = plus(times(plus(times(part(1)), part(2))), part(3))
  return call('if', call('match', expr, constant(VERSION)), version, constant(null))
}

const dateOperator = (test: keyof typeof DATE_TESTS): Operator => ({
  test: (value, complain) => dateTest(value, complain, DATE_TESTS[test]),
})

export const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['exact', { test: equalsAny }],
  ['is_not', { test: equalsAny, is_negated: true }],
  ['in', { test: equalsAnyOfList }],
  ['not_in', { test: equalsAnyOfList, is_negated: true }],
  ['icontains', { test: contains }],
  ['not_icontains', { test: contains, is_negated: true }],
  ['icontains_multi', { test: contains }],
  ['not_icontains_multi', { test: contains, is_negated: true }],
  ['regex', { test: matches(false) }],
  // A pattern that cannot be read counts as a match here, so that its "not" finds nothing.
  ['not_regex', { test: matches(true), is_negated: true }],
  ['gt', { test: compares('>') }],
  ['gte', { test: compares('>=') }],
  ['min', { test: compares('>=') }],
  ['lt', { test: compares('<') }],
  ['lte', { test: compares('<=') }],
  ['max', { test: compares('<=') }],
  ['between', { test: isBetween(false) }],
  // No "not" of the other: what is no number is neither inside nor outside.
  ['not_between', { test: isBetween(true) }],
  ['is_set', { test: isSet, takes_no_value: true }],
  ['is_not_set', { test: isSet, takes_no_value: true, is_negated: true }],
  ['is_date_exact', dateOperator('exact')],
  ['is_date_before', dateOperator('before')],
  ['is_date_after', dateOperator('after')],
  ['semver_eq', { test: comparesVersion('==') }],
  ['semver_gt', { test: comparesVersion('>') }],
  ['semver_gte', { test: comparesVersion('>=') }],
  ['semver_lt', { test: comparesVersion('<') }],
  ['semver_lte', { test: comparesVersion('<=') }],
])

const timeCompares =
  (operator: CompareOperator): ReadTest =>
  (value, complain) =>
    anyTest(textsOf(value, complain).map((text) => laterOrEarlier(text, operator, complain)))

/** Those that make sense for what is a time in itself; its value is always a date. */
export const TIME_OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['exact', { test: timeCompares('==') }],
  ['is_not', { test: timeCompares('=='), is_negated: true }],
  ['gt', { test: timeCompares('>') }],
  ['gte', { test: timeCompares('>=') }],
  ['lt', { test: timeCompares('<') }],
  ['lte', { test: timeCompares('<=') }],
  ['is_set', { test: isSet, takes_no_value: true }],
  ['is_not_set', { test: isSet, takes_no_value: true, is_negated: true }],
  ['is_date_exact', dateOperator('exact')],
  ['is_date_before', dateOperator('before')],
  ['is_date_after', dateOperator('after')],
])
