// One page of the listing: found through ranges of growing width, and the place where the next page begins.
import type { Expr } from '../../../hogql/ast.ts'
import type { Services } from '../../../platform/services.ts'
import type { AskedProject } from '../run-query.ts'
import { shownTime, type EventRow } from './record.ts'
import { findEventRows } from './rows.ts'
import { ascending, descending, eventField } from '../tree.ts'
import { rangeCondition, trialRanges, type Direction, type Range } from './window.ts'

export type PageQuestion = {
  range: Range
  /** Everything but the time. */
  conditions: readonly Expr[]
  direction: Direction
  limit: number
  offset: number
}

export type EventsPage = { rows: readonly EventRow[]; has_more: boolean }

/** One row more than shown is asked for: it tells whether another page follows. */
export async function findPage(
  services: Services,
  project: AskedProject,
  { range, conditions, direction, limit, offset }: PageQuestion,
): Promise<EventsPage> {
  const inOrder = direction === 'newest_first' ? descending : ascending
  const order_by = [inOrder(eventField('timestamp')), inOrder(eventField('uuid'))]
  let rows: EventRow[] = []
  for (const part of trialRanges(range, direction)) {
    const where = [rangeCondition(part), ...conditions]
    rows = await findEventRows(services, project, { where, order_by, limit: limit + 1, offset })
    if (rows.length > limit) break
  }
  return { rows: rows.slice(0, limit), has_more: rows.length > limit }
}

/** Parameters of the link to the next page. The id lets it begin between two events of the same time. */
export function nextPlace(last: EventRow, direction: Direction): Record<string, string | null> {
  const name = direction === 'newest_first' ? 'before' : 'after'
  return { [name]: shownTime(last.timestamp), [`${name}_id`]: last.uuid, offset: null }
}
