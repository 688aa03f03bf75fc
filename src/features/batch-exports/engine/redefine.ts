// The definition of a run that is done again: as the export is now, in its columns and its format, but with the rows that
// the run before may have delivered. Otherwise rows that are at the destination already would belong to nobody.
import { printHogql } from '../../../hogql/print-hogql.ts'
import { isAimedElsewhere } from '../config.ts'
import type { Definition } from '../definition.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import type { RunRow } from '../rows.ts'
import type { Past } from '../runs/past.ts'
import { customColumns } from '../source/custom-query.ts'

export function redefine(present: Definition, past: Past): Definition {
  const before = lastDelivered(present, past)?.definition
  if (!before || before.model !== 'events') return present
  const { include_events, exclude_events } = before.config
  return {
    ...present,
    config: { ...present.config, include_events, exclude_events },
    filters: before.filters,
    timezone: before.timezone,
    hogql_query: hasSameCondition(present, before) ? present.hogql_query : before.hogql_query,
  }
}

/**
 * The last run of the delivery that may have left something where the export goes now. What goes out in pieces cannot be
 * taken back when the run is cancelled: there a run that got through counts also when it had no rows.
 */
export function lastDelivered(present: Definition, { others }: Past): RunRow | undefined {
  const { is_piecewise } = DESTINATIONS.get(present.destination_type)!
  return others.findLast(
    (run) =>
      run.definition !== null &&
      (run.published !== null || run.progress !== null || (is_piecewise && run.status === 'Completed')) &&
      isSamePlace(present, run.definition),
  )
}

export function isSamePlace(one: Definition, other: Definition): boolean {
  const kind = DESTINATIONS.get(one.destination_type)!
  return one.destination_type === other.destination_type && !isAimedElsewhere(kind, one.config, other.config)
}

function hasSameCondition(one: Definition, other: Definition): boolean {
  return conditionOf(one) === conditionOf(other)
}

function conditionOf({ hogql_query }: Definition): string | null {
  const where = hogql_query === null ? undefined : customColumns(hogql_query).query.where
  return where ? printHogql(where) : null
}
