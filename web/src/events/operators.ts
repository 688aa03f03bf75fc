// The operators of filters in words, what value each takes, and which are offered for what.
import type { Filter, Operator, Subject } from './filter'

/** `many`: any of several texts; `range`: two numbers. */
export type ValueKind = 'many' | 'text' | 'number' | 'range' | 'date' | 'version' | 'none'

const MEANING: Record<Operator, { words: string; takes: ValueKind }> = {
  exact: { words: 'is', takes: 'many' },
  is_not: { words: 'is not', takes: 'many' },
  in: { words: 'is one of', takes: 'many' },
  not_in: { words: 'is none of', takes: 'many' },
  icontains: { words: 'contains', takes: 'many' },
  not_icontains: { words: 'does not contain', takes: 'many' },
  icontains_multi: { words: 'contains one of', takes: 'many' },
  not_icontains_multi: { words: 'contains none of', takes: 'many' },
  regex: { words: 'matches', takes: 'text' },
  not_regex: { words: 'does not match', takes: 'text' },
  gt: { words: 'is above', takes: 'number' },
  gte: { words: 'is at least', takes: 'number' },
  min: { words: 'is at least', takes: 'number' },
  lt: { words: 'is below', takes: 'number' },
  lte: { words: 'is at most', takes: 'number' },
  max: { words: 'is at most', takes: 'number' },
  between: { words: 'is between', takes: 'range' },
  not_between: { words: 'is not between', takes: 'range' },
  is_set: { words: 'is set', takes: 'none' },
  is_not_set: { words: 'is not set', takes: 'none' },
  is_date_exact: { words: 'is on', takes: 'date' },
  is_date_before: { words: 'is before', takes: 'date' },
  is_date_after: { words: 'is after', takes: 'date' },
  semver_eq: { words: 'is version', takes: 'version' },
  semver_gt: { words: 'is above version', takes: 'version' },
  semver_gte: { words: 'is at least version', takes: 'version' },
  semver_lt: { words: 'is below version', takes: 'version' },
  semver_lte: { words: 'is at most version', takes: 'version' },
}

type OperatorGroup = { group: string; operators: readonly Operator[] }

/** Each meaning once: `in`, `min` and the like say what others say. */
const GROUPS: readonly OperatorGroup[] = [
  { group: 'Text', operators: ['exact', 'is_not', 'icontains', 'not_icontains', 'regex', 'not_regex'] },
  { group: 'Presence', operators: ['is_set', 'is_not_set'] },
  { group: 'Number', operators: ['gt', 'gte', 'lt', 'lte', 'between', 'not_between'] },
  { group: 'Date', operators: ['is_date_exact', 'is_date_before', 'is_date_after'] },
  { group: 'Version', operators: ['semver_eq', 'semver_gt', 'semver_gte', 'semver_lt', 'semver_lte'] },
]
const TEXTS: readonly OperatorGroup[] = GROUPS.slice(0, 2)
const NUMBERS: readonly OperatorGroup[] = GROUPS.slice(2, 3)
const EQUALITY: readonly OperatorGroup[] = [{ group: 'Text', operators: ['exact', 'is_not'] }]
const TIMES: readonly OperatorGroup[] = GROUPS.slice(3, 4)

export function operatorsFor({ type, key }: Subject): readonly OperatorGroup[] {
  if (type === 'hogql') return []
  if (type === 'session' && key === '$session_duration') return NUMBERS
  if (type === 'element') return key === 'text' || key === 'href' ? TEXTS : EQUALITY
  if (type === 'event_metadata') return key === 'timestamp' || key === 'created_at' ? TIMES : TEXTS
  return GROUPS
}

export const operatorWords = (operator: Operator): string => MEANING[operator].words
export const valueKind = (operator: Operator): ValueKind => MEANING[operator].takes

/** What keeps a filter from being asked; null when nothing does. */
export function problemOf({ type, operator, value = [] }: Filter): string | null {
  if (type === 'hogql') return null
  const kind = valueKind(operator)
  if (kind === 'none') return null
  if (value.length === 0 || value.some((each) => each.trim() === '')) return 'A value is missing.'
  if (kind === 'range') {
    const [low, high] = value.map(Number)
    const isRange = value.length === 2 && !Number.isNaN(low) && !Number.isNaN(high) && low! <= high!
    return isRange ? null : 'Two numbers are needed, the smaller one first.'
  }
  return null
}

const COLUMN_NAMES: Record<string, string> = { distinct_id: 'distinct id', person_id: 'person id' }

/** `groups`: the names of the types of groups, by index. */
export function subjectWords(
  { type, key, group_type_index = 0 }: Subject,
  groups: readonly string[] = [],
): string {
  switch (type) {
    case 'event':
    case 'hogql':
      return key
    case 'event_metadata':
      return COLUMN_NAMES[key] ?? key
    case 'person':
      return `person’s ${key}`
    case 'group':
      return `${groups[group_type_index] ?? `group ${group_type_index}`}’s ${key}`
    case 'element':
      return `element ${key === 'tag_name' ? 'tag' : key}`
    case 'session':
      return key === '$session_duration' ? 'session’s seconds' : key
  }
}

/** As the chip says it after its subject: `is not Safari or Chrome`. */
export function conditionWords({ operator, value = [] }: Filter): string {
  const kind = valueKind(operator)
  if (kind === 'none') return operatorWords(operator)
  return `${operatorWords(operator)} ${value.join(kind === 'range' ? ' and ' : ' or ')}`
}
