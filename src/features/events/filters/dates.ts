// Filters that compare times. A property holds a time as ISO-like text, or as Unix seconds or milliseconds.
import type { CompareOperator, Expr } from '../../../hogql/ast.ts'
import { parseMoment } from '../../../lib/relative-time.ts'
import { allOf, anyOf, call, compare, constant, moment } from '../tree.ts'
import type { Complain, FilterContext, Subject, Test } from './condition.ts'
import { textsOf } from './values.ts'

const SECOND = 1_000_000n
const DAY = 86_400n * SECOND
const DATE_ONLY = /^\s*\d{4}-\d{2}-\d{2}\s*$/
// Whether a text can be read does not hang on the day.
const SOME_DAY: FilterContext = { now: new Date('2024-01-01T00:00:00Z'), timezone: 'UTC' }
const ISO_LIKE = String.raw`^\s*\d{4}-\d{2}-\d{2}`
const ISO_OR_UNIX = String.raw`^\s*\d{4}-\d{2}-\d{2}|^(\d{10}|\d{13})$`
const WITHOUT_ZONE = String.raw`^\s*(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?)\s*$`
const WITHOUT_TIME = String.raw`^\s*(\d{4}-\d{2}-\d{2})\s*$`

type DateTest = (time: Expr, micros: bigint, is_date_only: boolean) => Expr

export const DATE_TESTS: Readonly<Record<'exact' | 'before' | 'after', DateTest>> = {
  exact(time, micros, is_date_only) {
    const length = is_date_only ? DAY : SECOND
    const start = micros - (((micros % length) + length) % length)
    return within(time, start, start + length)
  },
  before: (time, micros) => compare(time, '<', moment(micros)),
  /** A date alone means its whole day. */
  after: (time, micros, is_date_only) =>
    is_date_only ? compare(time, '>=', moment(micros + DAY)) : compare(time, '>', moment(micros)),
}

const within = (time: Expr, start: bigint, end: bigint): Expr =>
  allOf([compare(time, '>=', moment(start)), compare(time, '<', moment(end))])!

/** `is_date_exact` and its like: the value must be a date, the property is looked at as far as it is one. */
export function dateTest(value: unknown, complain: Complain, test: DateTest): Test {
  const texts = textsOf(value, complain)
  for (const text of texts) momentOf(text, SOME_DAY, complain)
  return (subject, context) => {
    const time = timeOf(subject, context)
    const tests = texts.map((text) => test(time, momentOf(text, context, complain), DATE_ONLY.test(text)))
    return tests.length === 0 ? constant(false) : onlyWhere(subject, ISO_OR_UNIX, anyOf(...tests))
  }
}

/** `gt` and its like where the value is a date and no number: properties that are numbers do not take part. */
export function laterOrEarlier(text: string, operator: CompareOperator, complain: Complain): Test {
  momentOf(text, SOME_DAY, complain)
  return (subject, context) =>
    onlyWhere(
      subject,
      ISO_LIKE,
      compare(timeOf(subject, context), operator, moment(momentOf(text, context, complain))),
    )
}

function momentOf(text: string, { now, timezone }: FilterContext, complain: Complain): bigint {
  const micros = parseMoment(text, now, timezone)
  if (micros === null) throw complain('The value must be a date or a time such as 2024-06-01 or -7d.')
  return micros
}

/** Engines read more than is meant here, `infinity` for one. */
function onlyWhere(subject: Subject, pattern: string, test: Expr): Expr {
  return subject.is_time ? test : allOf([call('match', subject.expr, constant(pattern)), test])!
}

/** Text without a zone is UTC, as in the filter's own value; engines would take it for the project's. */
function timeOf({ expr, is_time }: Subject, { timezone }: FilterContext): Expr {
  if (is_time) return expr
  if (timezone === 'UTC') return call('toDateTime', expr)
  const withTime = call('replaceRegexpOne', expr, constant(WITHOUT_TIME), constant(String.raw`\1T00:00:00`))
  return call(
    'toDateTime',
    call('replaceRegexpOne', withTime, constant(WITHOUT_ZONE), constant(String.raw`\1Z`)),
  )
}
