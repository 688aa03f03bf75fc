// In which of several areas an event lies, as a tree of questions: each event answers a handful of them. As conditions one
// behind the other, a hundred areas took the engine longer than writing the rows; as a list to be joined, half as long.
import type { PositionRange } from './event-store.ts'
import type { Area } from './export-rows.ts'

/** Positions above `seq_from` up to `seq_to`, times from `time_from` to before `time_to` in milliseconds since 1970. */
type Rectangle = { seq_from: number; seq_to: number; time_from: number; time_to: number; place: number }

type Split = { by: 'seq' | 'time'; at: number }

type Columns = { position: string; time: string }

/** How the engine writes numbers and instants. */
export type Spelling = { whole(value: number): string; instant(date: Date): string }

/** A condition; right for positions and times within `range` only. */
export function inAnyArea(
  areas: readonly Area[],
  range: PositionRange,
  columns: Columns,
  spelling: Spelling,
): string {
  return treeOf(areas, range, columns, spelling, (within, cell) => {
    if (within.length === 0) return 'false'
    return within.some((one) => isSame(one, cell)) ? 'true' : null
  })
}

/** The place in the list of the area that holds an event, or NULL. The areas must not overlap. */
export function placeOfArea(
  areas: readonly Area[],
  range: PositionRange,
  columns: Columns,
  spelling: Spelling,
): string {
  return treeOf(areas, range, columns, spelling, (within, cell) => {
    const [first, second] = within
    if (first === undefined) return 'NULL'
    if (!isSame(first, cell)) return null
    if (second) throw new Error(`areas overlap: ${JSON.stringify([areas[first.place], areas[second.place]])}`)
    return String(first.place)
  })
}

/** What is the same for a whole cell; null when it has to be split. */
type Leaf = (within: readonly Rectangle[], cell: Rectangle) => string | null

function treeOf(
  areas: readonly Area[],
  { from, to, times }: PositionRange,
  { position, time }: Columns,
  { whole, instant }: Spelling,
  leafOf: Leaf,
): string {
  const questionOf = ({ by, at }: Split) =>
    by === 'seq' ? `${position} <= ${whole(at)}` : `${time} < ${instant(new Date(at))}`
  const answerIn = (cell: Rectangle, rectangles: readonly Rectangle[]): string => {
    const within = rectangles.map((one) => commonPart(one, cell)).filter((one) => one !== null)
    const leaf = leafOf(within, cell)
    if (leaf !== null) return leaf
    const split = bestSplit(cell, within)
    const [low, high] = halves(cell, split).map((half) => answerIn(half, within))
    return low === high ? low! : `CASE WHEN ${questionOf(split)} THEN ${low} ELSE ${high} END`
  }
  const everything = {
    seq_from: from,
    seq_to: to,
    time_from: times?.from.getTime() ?? -Infinity,
    time_to: times?.to.getTime() ?? Infinity,
    place: -1,
  }
  const rectangles = areas.map(({ seq_from, seq_to, time_from, time_to }, place) => ({
    seq_from,
    seq_to,
    time_from: time_from?.getTime() ?? -Infinity,
    time_to: time_to?.getTime() ?? Infinity,
    place,
  }))
  return answerIn(everything, rectangles)
}

function commonPart(one: Rectangle, other: Rectangle): Rectangle | null {
  const common = {
    place: one.place,
    seq_from: Math.max(one.seq_from, other.seq_from),
    seq_to: Math.min(one.seq_to, other.seq_to),
    time_from: Math.max(one.time_from, other.time_from),
    time_to: Math.min(one.time_to, other.time_to),
  }
  return common.seq_from < common.seq_to && common.time_from < common.time_to ? common : null
}

/** How many reach into each half. */
function sidesOf(within: readonly Rectangle[], { by, at }: Split): [number, number] {
  let [low, high] = [0, 0]
  for (const one of within) {
    if (one[`${by}_from`] < at) low++
    if (one[`${by}_to`] > at) high++
  }
  return [low, high]
}

const SIDES = ['seq_from', 'seq_to', 'time_from', 'time_to'] as const

const isSame = (one: Rectangle, other: Rectangle) => SIDES.every((side) => one[side] === other[side])

function halves(cell: Rectangle, { by, at }: Split): [Rectangle, Rectangle] {
  return by === 'seq'
    ? [
        { ...cell, seq_to: at },
        { ...cell, seq_from: at },
      ]
    : [
        { ...cell, time_to: at },
        { ...cell, time_from: at },
      ]
}

/** So many of each kind are tried. */
const SPLITS_TRIED = 16

/** The one that leaves the fewest rectangles on the fuller side; those that it cuts are on both. */
function bestSplit(cell: Rectangle, within: readonly Rectangle[]): Split {
  const splits = [
    ...sampleOf(edgesInside(within, 'seq', cell)).map((at): Split => ({ by: 'seq', at })),
    ...sampleOf(edgesInside(within, 'time', cell)).map((at): Split => ({ by: 'time', at })),
  ]
  const fullness = (split: Split) => Math.max(...sidesOf(within, split))
  return splits
    .map((split) => ({ split, most: fullness(split) }))
    .reduce((best, other) => (other.most < best.most ? other : best)).split
}

function edgesInside(within: readonly Rectangle[], by: Split['by'], cell: Rectangle): number[] {
  const edges = new Set(within.flatMap((one) => [one[`${by}_from`], one[`${by}_to`]]))
  return [...edges]
    .filter((edge) => edge > cell[`${by}_from`] && edge < cell[`${by}_to`])
    .toSorted((one, other) => one - other)
}

function sampleOf(edges: readonly number[]): number[] {
  const step = Math.max(1, edges.length / SPLITS_TRIED)
  return Array.from(
    { length: Math.min(edges.length, SPLITS_TRIED) },
    (_, index) => edges[Math.floor((index + 0.5) * step)] ?? edges.at(-1)!,
  )
}
