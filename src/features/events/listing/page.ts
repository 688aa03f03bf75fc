// One page of the listing: found through ranges of growing width, and the place where the next page begins. An offset is
// turned into a place first, so that its rows are read like those of any first page.
import type { Expr } from '../../../hogql/ast.ts'
import { parseMicros } from '../../../lib/microseconds.ts'
import type { PagePlace } from '../../../platform/http/page-places.ts'
import type { Services } from '../../../platform/services.ts'
import type { AskedProject } from '../run-query.ts'
import { shownTime, type EventRow } from './record.ts'
import { findEventRows, findPlaceBefore } from './rows.ts'
import { ascending, descending, eventField } from '../tree.ts'
import { rangeCondition, trialRanges, type Direction, type Range } from './window.ts'

export type PageQuestion = {
  range: Range
  /** Everything but the time. */
  conditions: readonly Expr[]
  direction: Direction
  limit: number
  offset: number
  /** The event before `offset`, where it is known already. */
  place?: PagePlace | undefined
  /** Aborted when nobody wants the page any more. */
  signal?: AbortSignal | undefined
}

export type EventsPage = { rows: readonly EventRow[]; has_more: boolean }

const NOTHING: EventsPage = { rows: [], has_more: false }

/** One row more than shown is asked for: it tells whether another page follows. */
export async function findPage(
  services: Services,
  project: AskedProject,
  question: PageQuestion,
): Promise<EventsPage> {
  const { conditions, direction, limit, offset, signal } = question
  const order_by = orderIn(direction)
  let { range } = question
  if (offset > 0) {
    const place = question.place ?? (await countToPlace(services, project, question))
    if (place === null) return NOTHING
    range = direction === 'newest_first' ? { ...range, before: place } : { ...range, after: place }
  }
  let rows: EventRow[] = []
  for (const part of trialRanges(range, direction)) {
    const where = [rangeCondition(part), ...conditions]
    rows = await findEventRows(services, project, { where, order_by, limit: limit + 1, signal })
    if (rows.length > limit) break
  }
  return { rows: rows.slice(0, limit), has_more: rows.length > limit }
}

async function countToPlace(
  services: Services,
  project: AskedProject,
  { range, conditions, direction, offset, signal }: PageQuestion,
): Promise<PagePlace | null> {
  const order_by = orderIn(direction)
  for (const part of trialRanges(range, direction)) {
    const where = [rangeCondition(part), ...conditions]
    const row = await findPlaceBefore(services, project, { where, order_by, offset, signal })
    if (row) return placeOf(row)
  }
  return null
}

function orderIn(direction: Direction) {
  const inOrder = direction === 'newest_first' ? descending : ascending
  return [inOrder(eventField('timestamp')), inOrder(eventField('uuid'))]
}

export function placeOf({ timestamp, uuid }: Pick<EventRow, 'timestamp' | 'uuid'>): PagePlace {
  return { micros: parseMicros(shownTime(timestamp))!, id: uuid }
}

/** Parameters of the link to the next page. The id lets it begin between two events of the same time. */
export function nextPlace(last: EventRow, direction: Direction): Record<string, string | null> {
  const name = direction === 'newest_first' ? 'before' : 'after'
  return { [name]: shownTime(last.timestamp), [`${name}_id`]: last.uuid, offset: null }
}
