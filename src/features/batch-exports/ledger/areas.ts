// Areas of the plane that a project's events lie in: one axis is the position, the other the event's own time. A run of the
// schedule takes a stripe of positions, a backfill a stripe of times. Pure; the ledger is kept with it.
import type { Area } from '../../../platform/event-store/export-rows.ts'

/** `area` without what is taken. The parts do not overlap. */
export function subtract(area: Area, taken: readonly Area[]): Area[] {
  const rest = join(taken).reduce((parts, each) => parts.flatMap((part) => without(part, each)), [area])
  return join(rest)
}

/** Null where they have nothing in common. */
export function intersect(one: Area, other: Area): Area | null {
  const common = {
    seq_from: Math.max(one.seq_from, other.seq_from),
    seq_to: Math.min(one.seq_to, other.seq_to),
    time_from: start(one) >= start(other) ? one.time_from : other.time_from,
    time_to: end(one) <= end(other) ? one.time_to : other.time_to,
  }
  return common.seq_from < common.seq_to && start(common) < end(common) ? common : null
}

/** Whether it takes events of any time: then it holds as many as it has positions. */
export function isOfAnyTime({ time_from, time_to }: Area): boolean {
  return time_from === null && time_to === null
}

/** First what lies above and below in positions, then before and after in time. */
function without(area: Area, taken: Area): Area[] {
  const hole = intersect(area, taken)
  if (hole === null) return [area]
  const parts: Area[] = [
    { ...area, seq_to: hole.seq_from },
    { ...hole, time_from: area.time_from, time_to: hole.time_from },
    { ...hole, time_from: hole.time_to, time_to: area.time_to },
    { ...area, seq_from: hole.seq_to },
  ]
  const isBefore = start(area) < start(hole)
  const isAfter = end(hole) < end(area)
  return parts.filter(
    ({ seq_from, seq_to }, index) =>
      seq_from < seq_to && (index === 1 ? isBefore : index === 2 ? isAfter : true),
  )
}

/** Neighbours become one, so that months of hourly runs are a few areas. */
function join(areas: readonly Area[]): Area[] {
  const byTime = joinNeighbours(
    areas.toSorted(
      (one, other) => order(positions(one), positions(other)) || order([start(one)], [start(other)]),
    ),
    (one, other) => order(positions(one), positions(other)) === 0 && end(one) === start(other),
    (one, other) => ({ ...one, time_to: other.time_to }),
  )
  return joinNeighbours(
    byTime.toSorted((one, other) => order(times(one), times(other)) || one.seq_from - other.seq_from),
    (one, other) => order(times(one), times(other)) === 0 && one.seq_to === other.seq_from,
    (one, other) => ({ ...one, seq_to: other.seq_to }),
  )
}

function joinNeighbours(
  areas: readonly Area[],
  doTouch: (one: Area, other: Area) => boolean,
  joined: (one: Area, other: Area) => Area,
): Area[] {
  const done: Area[] = []
  for (const area of areas) {
    const last = done.at(-1)
    if (last && doTouch(last, area)) done[done.length - 1] = joined(last, area)
    else done.push(area)
  }
  return done
}

const positions = ({ seq_from, seq_to }: Area) => [seq_from, seq_to]
const times = (area: Area) => [start(area), end(area)]
const start = ({ time_from }: Area) => time_from?.getTime() ?? -Infinity
const end = ({ time_to }: Area) => time_to?.getTime() ?? Infinity

function order(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((value, at) => value !== other[at])
  return index === -1 ? 0 : one[index]! < other[index]! ? -1 : 1
}
