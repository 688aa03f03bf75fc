// The filters of an export: as the form shows them, and as the API takes them. Pure.
import { OPERATORS, type Operator } from '../../events/filter'
import { operatorsFor, operatorWords, problemOf, valueKind, type ValueKind } from '../../events/operators'

export type Filter = {
  type: 'event' | 'person' | 'hogql'
  key: string
  operator: Operator
  value: readonly string[]
  /** As the API has it: sent back as it is while nothing of it is changed here. */
  stored?: unknown
}

export const NEW_FILTER: Filter = { type: 'event', key: '', operator: 'exact', value: [] }
const KINDS_OF_LISTS: readonly ValueKind[] = ['many', 'range']

export function filterOf(stored: unknown): Filter {
  const { type, key, operator, value } = stored as Record<string, unknown>
  return {
    type: type === 'person' || type === 'hogql' ? type : 'event',
    key: typeof key === 'string' ? key : '',
    operator: OPERATORS.find((each) => each === operator) ?? 'exact',
    value: valuesIn(value),
    stored,
  }
}

/** The API compares texts: what is none counts as JSON writes it. */
function valuesIn(value: unknown): string[] {
  return [value]
    .flat()
    .filter((each) => each !== null && each !== undefined)
    .map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
}

export function filterBody(filter: Filter): unknown {
  const { type, key, operator, value } = filter
  if (isAsStored(filter)) return filter.stored
  if (type === 'hogql') return { type, key }
  const kind = valueKind(operator)
  if (kind === 'none') return { type, key, operator, value: operator }
  const isList = KINDS_OF_LISTS.includes(kind) || value.length > 1
  return { type, key, operator, value: isList ? value : (value[0] ?? '') }
}

function isAsStored({ stored, ...shown }: Filter): boolean {
  if (stored === undefined) return false
  const { stored: _same, ...before } = filterOf(stored)
  return Object.entries(before).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify(shown[name as keyof typeof shown]),
  )
}

/** What is asked for beside the operator. A pattern or a number that was stored as a list stays one. */
export function kindOfValue({ type, operator, value }: Filter): ValueKind {
  if (type === 'hogql') return 'none'
  const kind = valueKind(operator)
  return kind !== 'none' && kind !== 'range' && value.length > 1 ? 'many' : kind
}

/** The offered operators, with the filter's own where another name for it is offered. */
export function operatorChoices({ type, key, operator }: Filter) {
  const groups = operatorsFor({ type, key }).map(({ group, operators }) => ({
    group,
    items: operators.map(choiceOf),
  }))
  const isOffered = groups.some(({ items }) => items.some(({ value }) => value === operator))
  return isOffered ? groups : [...groups, { group: 'As stored', items: [choiceOf(operator)] }]
}

const choiceOf = (operator: Operator) => ({ value: operator, label: operatorWords(operator) })

/** With another operator: its value stays as far as that takes it. */
export function withOperator(filter: Filter, operator: Operator): Filter {
  const [before, next] = [valueKind(filter.operator), valueKind(operator)]
  if (before === next) return { ...filter, operator }
  return { ...filter, operator, value: next === 'range' ? [] : filter.value.slice(0, 1) }
}

/** Whether somebody is still typing it: it means nothing yet. */
export const isUnfinished = (filter: Filter): boolean =>
  !isAsStored(filter) && (filter.key.trim() === '' || problemOf(filter) !== null)
