// The SELECTs by which stored events are read for delivery.
import { constant } from '../../events/tree.ts'
import type { Expr, Query } from '../../../hogql/ast.ts'
import { compileQuery, type CompiledQuery } from '../../../hogql/compile.ts'
import { parseSelect } from '../../../hogql/parser.ts'
import type { EventStore } from '../../../platform/event-store/event-store.ts'

/** What an event takes besides its name, its properties and who did it. */
const EVENT_BYTES = 300

const FIELDS = 'seq, uuid, event, distinct_id, timestamp, properties'

/** `found` is how many events there are before the page is cut to its size. One event may be larger than a page. */
const PAGE = parseSelect(`
  SELECT ${FIELDS}, found FROM (
    SELECT *, count() OVER () AS found, sum(bytes) OVER (ORDER BY seq ASC) AS bytes_so_far FROM (
      SELECT ${FIELDS}, ${EVENT_BYTES} + length(event) + length(distinct_id) + length(properties) AS bytes
      FROM events ORDER BY seq ASC LIMIT {max_events}))
  WHERE bytes_so_far <= {max_bytes} OR bytes_so_far = bytes ORDER BY seq ASC`)

/** As one text: thousands of values take seconds. */
const AT_POSITIONS = parseSelect(
  `SELECT ${FIELDS} FROM events WHERE seq IN (SELECT toInt(arrayJoin(splitByChar(',', {positions}))))`,
)

/** A project, and the engine that holds its events. */
type ReadProject = { id: number; timezone: string; engine: EventStore['engine'] }

/** The first of those that meet `where`, in the order of their positions. Throws a HogqlError. */
export function compilePage(
  project: ReadProject,
  where: Expr,
  now: Date,
  { max_events, max_bytes }: { max_events: number; max_bytes: number },
): CompiledQuery {
  return compileEvents(project, PAGE, where, now, { max_events, max_bytes })
}

/** In any order. */
export function compileAtPositions(
  project: ReadProject,
  positions: readonly number[],
  where: Expr,
  now: Date,
): CompiledQuery {
  return compileEvents(project, AT_POSITIONS, where, now, { positions: positions.join(',') })
}

function compileEvents(
  { id, timezone, engine }: ReadProject,
  query: Query,
  where: Expr,
  now: Date,
  values: Readonly<Record<string, string | number>>,
): CompiledQuery {
  const placeholders = new Map(Object.entries(values).map(([name, value]) => [name, constant(value)]))
  const context = { project_id: id, timezone, now, placeholders, by_position: true, exported: { where } }
  return compileQuery(query, context, engine)
}
