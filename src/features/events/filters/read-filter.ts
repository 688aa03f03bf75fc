// One filter: `{"key", "value", "operator", "type"}`, checked and made a condition. Whatever cannot be used is refused,
// because a filter that is dropped in silence lets through what the caller wanted out.
import type { Expr, SelectQuery } from '../../../hogql/ast.ts'
import { parseExpression } from '../../../hogql/parser.ts'
import { isStorableText } from '../../../platform/http/body.ts'
import { call, compare, constant, field } from '../tree.ts'
import { explained } from '../run-query.ts'
import { eventColumn, type Complain, type Condition, type Subject, type Test } from './condition.ts'
import { chainCondition, someElement } from './element-filters.ts'
import { OPERATORS, TIME_OPERATORS, type Operator } from './operators.ts'

/** A filter as sent. */
export type GivenFilter = {
  key?: unknown
  value?: unknown
  operator?: unknown
  type?: unknown
  negation?: unknown
  group_type_index?: unknown
}

type Read = (filter: GivenFilter, key: string, complain: Complain) => Condition

const TIMES = new Set(['timestamp', 'created_at'])
const COLUMNS = new Set([
  ...TIMES,
  'event',
  'distinct_id',
  'person_id',
  'uuid',
  'elements_chain',
  '$session_id',
  '$window_id',
  ...[0, 1, 2, 3, 4].map((index) => `$group_${index}`),
])

const TYPES: ReadonlyMap<unknown, Read> = new Map<unknown, Read>([
  ['event', readProperty('properties')],
  ['feature', readProperty('properties')],
  [
    'person',
    (filter, key, complain) =>
      (key === 'distinct_id' ? readOwnId : readProperty('person', 'properties'))(filter, key, complain),
  ],
  ['event_metadata', readColumn],
  ['element', readElement],
  ['cohort', readCohort],
  ['static-cohort', readCohort],
  ['precalculated-cohort', readCohort],
  ['group', readGroup],
  [
    'session',
    (filter, key, complain) =>
      (key === '$session_duration' ? readDuration : readProperty('properties'))(filter, key, complain),
  ],
])

export function readFilter(filter: GivenFilter, attr: string, complain: Complain): Condition {
  const { key } = filter
  if (typeof key !== 'string' || key === '') throw complain('A filter has no key.')
  if (!isStorableText(key)) throw complain('A key may not hold NUL or broken characters.')
  const type = filter.type ?? 'event'
  if (type === 'hogql') {
    const expr = explained(attr, () => parseExpression(key))
    return () => expr
  }
  const read = TYPES.get(type)
  if (!read) throw complain(`Filters of the type ${shown(type)} are not supported.`)
  return read(filter, key, complain)
}

function readProperty(...column: string[]): Read {
  return (filter, key, complain) =>
    plainCondition(filter, OPERATORS, complain, (context) => ({ expr: eventColumn(context, ...column, key) }))
}

function readColumn(filter: GivenFilter, key: string, complain: Complain): Condition {
  if (!COLUMNS.has(key)) throw complain(`Events have no column ${shown(key)} to filter by.`)
  if (!TIMES.has(key)) {
    return plainCondition(filter, OPERATORS, complain, (context) => ({ expr: eventColumn(context, key) }))
  }
  return plainCondition(filter, TIME_OPERATORS, complain, (context) => ({
    expr: eventColumn(context, key),
    is_time: true,
  }))
}

function readGroup(filter: GivenFilter, key: string, complain: Complain): Condition {
  const given = filter.group_type_index
  const index = [0, 1, 2, 3, 4].find((each) => each === given || String(each) === given)
  if (index === undefined) throw complain('A filter of the type group needs a group_type_index from 0 to 4.')
  return readProperty(`group_${index}`, 'properties')(filter, key, complain)
}

function readElement(filter: GivenFilter, key: string, complain: Complain): Condition {
  if (key === 'text' || key === 'href') {
    return condition(filter, OPERATORS, complain, (test) => someElement(key, test))
  }
  if (key !== 'tag_name' && key !== 'selector') {
    throw complain('Elements have tag_name, text, href and selector to filter by.')
  }
  const { operator = 'exact' } = filter
  if (operator !== 'exact' && operator !== 'is_not') throw complain(`For ${key} only exact and is_not exist.`)
  const matches = chainCondition(key, valueOf(filter, complain), complain)
  return operator === 'is_not' ? negated(matches) : matches
}

/** There are no cohorts yet, so nobody is in one. */
function readCohort(filter: GivenFilter, _key: string, complain: Complain): Condition {
  valueOf(filter, complain)
  const { operator = 'in' } = filter
  if (!['in', 'not_in', 'exact', 'is_not'].includes(String(operator))) {
    throw complain('For cohorts only in and not_in exist.')
  }
  const isInverted = operator === 'not_in' || operator === 'is_not' || filter.negation === true
  return () => constant(isInverted)
}

/** Any of the ids of the person, not only the one the event came with. */
function readOwnId(filter: GivenFilter, _key: string, complain: Complain): Condition {
  return condition(filter, OPERATORS, complain, (test) => (context) => {
    const persons: SelectQuery = {
      node: 'SelectQuery',
      select: [field('person_distinct_ids', 'person_id')],
      select_from: { node: 'JoinExpr', table: field('person_distinct_ids') },
      where: test({ expr: field('person_distinct_ids', 'distinct_id') }, context),
    }
    return compare(eventColumn(context, 'person_id'), 'in', persons)
  })
}

/** Seconds from the first to the last event of the session. */
function readDuration(filter: GivenFilter, _key: string, complain: Complain): Condition {
  const timestamp = field('events', 'timestamp')
  const duration = call('dateDiff', constant('second'), call('min', timestamp), call('max', timestamp))
  const session = field('events', 'properties', '$session_id')
  return condition(filter, OPERATORS, complain, (test) => (context) => {
    const sessions: SelectQuery = {
      node: 'SelectQuery',
      select: [session],
      select_from: { node: 'JoinExpr', table: field('events') },
      where: compare(session, '!=', constant(null)),
      group_by: [session],
      having: test({ expr: duration }, context),
    }
    return compare(eventColumn(context, 'properties', '$session_id'), 'in', sessions)
  })
}

function plainCondition(
  filter: GivenFilter,
  operators: ReadonlyMap<string, Operator>,
  complain: Complain,
  subjectOf: (context: Parameters<Condition>[0]) => Subject,
): Condition {
  return condition(filter, operators, complain, (test) => (context) => test(subjectOf(context), context))
}

/** `apply` says what the test is about. */
function condition(
  filter: GivenFilter,
  operators: ReadonlyMap<string, Operator>,
  complain: Complain,
  apply: (test: Test) => Condition,
): Condition {
  const name = filter.operator ?? 'exact'
  const operator = typeof name === 'string' ? operators.get(name) : undefined
  if (!operator) throw complain(`The operator ${shown(name)} does not exist here.`)
  const value = operator.takes_no_value ? null : valueOf(filter, complain)
  const holds = apply(operator.test(value, complain))
  return operator.is_negated ? negated(holds) : holds
}

function valueOf({ value }: GivenFilter, complain: Complain): unknown {
  if (value === undefined || value === null) throw complain('A filter has no value.')
  return value
}

function negated(holds: Condition): Condition {
  return (context): Expr => ({ node: 'Not', expr: call('ifNull', holds(context), constant(false)) })
}

/** What the user sent, short enough for a sentence. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
