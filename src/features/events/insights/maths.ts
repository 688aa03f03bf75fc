// What a series counts: events, those who caused them, or the values of a property.
import type { Expr } from '../../../hogql/ast.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { call, compare, constant, eventField, field } from '../tree.ts'

const QUANTILES = { median: 0.5, p75: 0.75, p90: 0.9, p95: 0.95, p99: 0.99 } as const
const NUMBERS = ['sum', 'avg', 'min', 'max'] as const

export const MATHS = [
  'total',
  'dau',
  'weekly_active',
  'monthly_active',
  'unique_session',
  'unique_group',
  ...NUMBERS,
  'median',
  'p75',
  'p90',
  'p95',
  'p99',
] as const
type SeriesMath = (typeof MATHS)[number]

/** The fields of a series that say what is counted. */
type Counted = {
  math?: SeriesMath | null | undefined
  math_property?: string | null | undefined
  math_group_type_index?: number | null | undefined
}

/** Those who were active at any time in the last so many days. */
export const ACTIVE_DAYS: Readonly<Partial<Record<SeriesMath, number>>> = {
  weekly_active: 7,
  monthly_active: 30,
}

/** Who did it: the person, or their group of a type. */
export const actorOf = (group_type_index: number | null | undefined): Expr =>
  typeof group_type_index === 'number' ? groupOf(group_type_index) : eventField('person_id')

/** Events without such a group are nobody's; every event has a person. */
export const isActor = (group_type_index: number | null | undefined): Expr[] =>
  typeof group_type_index === 'number' ? [compare(groupOf(group_type_index), '!=', constant(null))] : []

const groupOf = (index: number) => call('nullIf', eventField(`$group_${index}`), constant(''))

/** The aggregate over a series' events; `attr` is the series, for errors. */
export function aggregateOf(node: Counted, attr: string): Expr {
  const math = node.math ?? 'total'
  switch (math) {
    case 'total':
      return call('count')
    case 'dau':
    case 'weekly_active':
    case 'monthly_active':
      return call('uniq', eventField('person_id'))
    case 'unique_session':
      return call('uniq', call('nullIf', eventField('$session_id'), constant('')))
    case 'unique_group': {
      const index = node.math_group_type_index
      if (typeof index === 'number') return call('uniq', groupOf(index))
      throw invalid(`${attr}__math_group_type_index`, 'required', 'Which groups are counted is missing.')
    }
    default:
      return overProperty(math, propertyOf(node, math, attr))
  }
}

function overProperty(math: (typeof NUMBERS)[number] | keyof typeof QUANTILES, value: Expr): Expr {
  if (math in QUANTILES) {
    const params = [constant(QUANTILES[math as keyof typeof QUANTILES])]
    return { node: 'Call', name: 'quantile', params, args: [value] }
  }
  return call(math, value)
}

function propertyOf({ math_property }: Counted, math: SeriesMath, attr: string): Expr {
  if (math_property) return call('toFloat', field('events', 'properties', math_property))
  throw invalid(`${attr}__math_property`, 'required', `The property that ${math} is taken of is missing.`)
}
