// Which part of time a page is looked for in. The newest events are asked for most, so narrow ranges are tried first; a
// page that fills within one is the same page that the whole range would give.
import type { Expr } from '../../../hogql/ast.ts'
import { allOf, anyOf, compare, constant, eventField, moment } from '../tree.ts'

/** An end of a range, exclusive. With an id it is a place between two events of the same time. */
export type Bound = { micros: bigint; id: string | null }

export type Range = { after: Bound | null; before: Bound }

export type Direction = 'newest_first' | 'oldest_first'

const HOUR = 3_600_000_000n
const WIDTHS = [HOUR, 24n * HOUR, 7n * 24n * HOUR, 30n * 24n * HOUR]
/** The years 1 to 9999: engines read no other time. */
export const EARLIEST = -62_135_596_800_000_000n
export const LATEST = 253_402_300_799_999_999n

/** From narrow to whole; the last one is always the range itself. */
export function trialRanges(range: Range, direction: Direction): Range[] {
  const narrower = direction === 'newest_first' ? fromTheEnd(range) : fromTheStart(range)
  return [...narrower, range]
}

function fromTheEnd({ after, before }: Range): Range[] {
  return WIDTHS.map((width) => before.micros - width)
    .filter((start) => start > (after?.micros ?? EARLIEST))
    .map((micros) => ({ after: { micros, id: null }, before }))
}

/** Without a start there is nothing to measure from: the oldest event may be years away. */
function fromTheStart({ after, before }: Range): Range[] {
  if (after === null) return []
  return WIDTHS.map((width) => after.micros + width)
    .filter((end) => end < before.micros)
    .map((micros) => ({ after, before: { micros, id: null } }))
}

export function rangeCondition({ after, before }: Range): Expr {
  const ends = [beyond(before, '<'), ...(after === null ? [] : [beyond(after, '>')])]
  return allOf(ends.flat())!
}

/** `(timestamp, uuid) < (time, id)`, with the plain comparison in front: engines skip blocks of rows by it. */
function beyond({ micros, id }: Bound, side: '<' | '>'): Expr[] {
  const time = moment(micros)
  const timestamp = eventField('timestamp')
  if (id === null) return [compare(timestamp, side, time)]
  return [
    compare(timestamp, side === '<' ? '<=' : '>=', time),
    anyOf(compare(timestamp, side, time), compare(eventField('uuid'), side, constant(id))),
  ]
}
