// Splitting an insight by a property of the event, its person or a group.
import type { Expr } from '../../../hogql/ast.ts'
import { parseExpression } from '../../../hogql/parser.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { explained } from '../run-query.ts'
import { call, constant, field } from '../tree.ts'
import { withoutNames } from './conditions.ts'
import type { BreakdownFilter } from './schema.ts'

/** PostHog's names for events without the property, and for the values that are left over. */
export const NO_VALUE = '$$_posthog_breakdown_null_$$'
export const OTHER_VALUES = '$$_posthog_breakdown_other_$$'

const DEFAULT_LIMIT = 25

export type Breakdown = {
  /** Text, NULL where there is none. */
  value: Expr
  limit: number
  hides_others: boolean
  /** Clients that send a list of breakdowns read a list of values. */
  is_list: boolean
}

type Given = { property: string; type: string; group_type_index: number | null | undefined; attr: string }

export function readBreakdown(filter: BreakdownFilter): Breakdown | null {
  const given = givenOf(filter)
  if (!filter || !given) return null
  return {
    value: call('nullIf', call('toString', subjectOf(given)), constant('')),
    limit: filter.breakdown_limit ?? DEFAULT_LIMIT,
    hides_others: filter.breakdown_hide_other_aggregation === true,
    is_list: !filter.breakdown,
  }
}

function givenOf(filter: BreakdownFilter): Given | null {
  const [single] = [filter?.breakdown ?? []].flat()
  if (filter && single) {
    const { breakdown_type, breakdown_group_type_index: group_type_index } = filter
    const attr = 'breakdownFilter__breakdown'
    return { property: single, type: breakdown_type ?? 'event', group_type_index, attr }
  }
  const [first] = filter?.breakdowns ?? []
  if (!first) return null
  const { property, type, group_type_index } = first
  return { property, type: type ?? 'event', group_type_index, attr: 'breakdownFilter__breakdowns__0' }
}

function subjectOf({ property, type, group_type_index, attr }: Given): Expr {
  if (type === 'hogql')
    return withoutNames(
      explained(attr, () => parseExpression(property)),
      attr,
    )
  if (type === 'person') return field('events', 'person', 'properties', property)
  if (type === 'event') return field('events', 'properties', property)
  if (typeof group_type_index === 'number') {
    return field('events', `group_${group_type_index}`, 'properties', property)
  }
  throw invalid(attr, 'required', 'A breakdown by groups needs the index of their type.')
}
