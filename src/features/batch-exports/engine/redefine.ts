// The definition of a run that is done again: as the export is now, in its columns and its format, but with the rows that
// the run before may have delivered. Otherwise rows that are at the destination already would belong to nobody.
import { printHogql } from '../../../hogql/print-hogql.ts'
import type { Definition } from '../definition.ts'
import type { RunRow } from '../rows.ts'
import type { Past } from '../runs/past.ts'
import { hasUpperUuid } from '../source/column-names.ts'
import { customColumns } from '../source/custom-query.ts'

export function redefine(present: Definition, past: Past): Definition {
  const before = past.others.findLast(mayHaveDelivered)?.definition
  if (!before || before.model !== 'events') return present
  const { include_events, exclude_events } = before.config
  return {
    ...present,
    config: { ...present.config, include_events, exclude_events },
    filters: before.filters,
    timezone: before.timezone,
    hogql_query: hasSameRows(present, before) ? present.hogql_query : before.hogql_query,
  }
}

/**
 * Also a run that got through without rows: the next could leave some under wider filters, and be cancelled. Then the run
 * that counts would have none of them.
 */
const mayHaveDelivered = ({ definition, status, published, progress }: RunRow) =>
  definition !== null && (status === 'Completed' || published !== null || progress !== null)

/** The same condition, and the same text for each uuid: by that a table tells whether it has a row. */
function hasSameRows(one: Definition, other: Definition): boolean {
  return conditionOf(one) === conditionOf(other) && isUpper(one) === isUpper(other)
}

/** Exports have such a query from when it was not refused yet. */
function isUpper({ hogql_query }: Definition): boolean {
  return hogql_query !== null && hasUpperUuid(customColumns(hogql_query).query.select)
}

/** A condition may name columns of the query: then it means what they are. */
function conditionOf({ hogql_query }: Definition): string | null {
  if (hogql_query === null) return null
  const { where, select } = customColumns(hogql_query).query
  if (!where) return null
  const condition = printHogql(where)
  const words = new Set(condition.match(/[\p{L}_$][\p{L}\d_$]*|(?<=`)[^`]+/gu))
  const named = select.filter((column) => column.node === 'Alias' && words.has(column.alias))
  return [condition, ...named.map((column) => printHogql(column))].join('\n')
}
