// Funnels over random histories against a count that tries every way through them. All histories of a run are one query.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLICKHOUSE_ADDRESS } from '../../../test/harness/clickhouse.ts'
import { openClickHouseEvaluation, openEvaluation } from './fixture/evaluate.ts'
import { TIME, meets, type Happened } from './fixture/funnel-history.ts'

const SEED = Number(process.env.FUNNEL_SEED ?? Math.floor(Math.random() * 2 ** 31))
const PEOPLE = 300
const WINDOW = 6
const STEPS = 'abc'

function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff
    return Math.floor((state / 0x80_00_00_00) * below)
  }
}

/** Times collide often, and windows end in the middle. */
function randomHistories(letters: readonly string[], most: number): Happened[][] {
  const random = randomNumbers(SEED)
  return Array.from({ length: PEOPLE }, () =>
    Array.from({ length: 1 + random(most) }, (): Happened => [
      random(14),
      letters[random(letters.length)] ?? '',
    ]),
  )
}

/** What the call gives for each history. */
async function askedOf(
  evaluation: { evaluate(text: string): Promise<unknown> },
  call: string,
  conditions: string,
  histories: readonly Happened[][],
): Promise<unknown[]> {
  const rows = histories.flatMap((events, person) =>
    events.map(([seconds, letters]) => `'${seconds}:${letters}:${person}'`),
  )
  const args = [TIME, ...[...conditions].map(meets)].join(', ')
  const person = `toInt(splitByChar(':', x)[3])`
  const found = await evaluation.evaluate(
    `select groupArray((person, found)) from
      (select ${person} as person, ${call}(${args}) as found from (select arrayJoin([${rows.join(', ')}]) as x) group by person)`,
  )
  return (found as [number | string, unknown][])
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([, each]) => each)
}

const seconds = (path: unknown) => (path as string[] | null)?.map((time) => Date.parse(time) / 1000) ?? null
const firstStep = ([, letters]: Happened) => {
  const place = [...STEPS].findIndex((step) => letters.includes(step))
  return place === -1 ? STEPS.length : place
}
const bitsOf = ([, letters]: Happened, conditions: string) =>
  [...conditions].reduce((sum, letter, place) => sum + (letters.includes(letter) ? 2 ** place : 0), 0)

/** Every way through the first steps, as places in the history; `after` says which events may follow which. */
function everyWay(
  events: readonly Happened[],
  length: number,
  mayFollow: (from: number, to: number) => boolean,
): number[][] {
  if (length === 0) return [[]]
  const meetsStep = (place: number) => events[place]![1].includes(STEPS[length - 1]!)
  return everyWay(events, length - 1, mayFollow).flatMap((way) =>
    events
      .map((_, place) => place)
      .filter((place) => meetsStep(place) && (way.length === 0 || mayFollow(way.at(-1)!, place)))
      .filter((place) => way.length === 0 || events[place]![0] - events[way[0]!]![0] <= WINDOW)
      .map((place) => [...way, place]),
  )
}

/** The longest way: the first to arrive, of those the last to begin, of those the quickest at every step. */
function bestWay(events: readonly Happened[], mayFollow: (from: number, to: number) => boolean): number[] {
  for (let length = STEPS.length; length > 0; length--) {
    const ways = everyWay(events, length, mayFollow)
    const order = (a: number[], b: number[]) =>
      a.at(-1)! - b.at(-1)! ||
      events[b[0]!]![0] - events[a[0]!]![0] ||
      a.findIndex((place, at) => place < b[at]!) * -1
    const [best] = ways.toSorted(order)
    if (best) return best
  }
  return []
}

const inTurn = (from: number, to: number) => to > from
const rightAfter = (from: number, to: number) => to === from + 1

/** Whether `x` comes where the newest way to the second step has not gone on to the third in time. */
function isExcluded(events: readonly Happened[], best: readonly number[]): boolean {
  const end = best.length === STEPS.length ? best.at(-1)! : events.length
  return events.some(([time, letters], place) => {
    if (!letters.includes('x') || place > end) return false
    const before = events.slice(0, place)
    const starts = everyWay(before, 2, inTurn).map(([start]) => before[start!]![0])
    if (starts.length === 0) return false
    const newest = Math.max(...starts)
    const hasGoneOn = everyWay(before, 3, inTurn).some(([start]) => before[start!]![0] === newest)
    return time - newest <= WINDOW && !hasGoneOn
  })
}

const ENGINES = [
  { engine: 'DuckDB', open: openEvaluation, excluded: null },
  // Its arrays are never NULL.
  ...(CLICKHOUSE_ADDRESS === null
    ? []
    : [{ engine: 'ClickHouse', open: openClickHouseEvaluation, excluded: [] }]),
]

describe.each(ENGINES)(`random histories on $engine, FUNNEL_SEED=${SEED}`, ({ open, excluded }) => {
  let evaluation: Awaited<ReturnType<typeof open>>
  beforeAll(async () => {
    evaluation = await open()
  })
  afterAll(() => evaluation.close())
  const asked = (call: string, conditions: string, histories: readonly Happened[][]) =>
    askedOf(evaluation, call, conditions, histories)
  const sorted = (events: readonly Happened[], conditions: string) =>
    events.toSorted(
      (a, b) => a[0] - b[0] || firstStep(a) - firstStep(b) || bitsOf(a, conditions) - bitsOf(b, conditions),
    )
  const times = (events: readonly Happened[], way: readonly number[]) => way.map((place) => events[place]![0])

  it('steps in order, an event for several of them included', async () => {
    const histories = randomHistories(['a', 'b', 'c', 'a', 'b', 'ab', 'bc'], 8)
    const found = await asked(`funnelPath(${WINDOW}, 'ordered', 3)`, STEPS, histories)
    const expected = histories.map((events) => {
      const inOrder = sorted(events, STEPS)
      return times(inOrder, bestWay(inOrder, inTurn))
    })
    expect(found.map(seconds)).toEqual(expected)
    expect(await asked(`windowFunnel(${WINDOW}, 'strict_once')`, STEPS, histories)).toEqual(
      expected.map((path) => path.length),
    )
  })

  it('whoever does something excluded after the second step is left out', async () => {
    const histories = randomHistories(['a', 'b', 'c', 'a', 'b', 'x'], 7)
    const found = await asked(`funnelPath(${WINDOW}, 'ordered', 3)`, `${STEPS}-x`, histories)
    const expected = histories.map((events) => {
      const inOrder = sorted(events, `${STEPS}-x`)
      const best = bestWay(inOrder, inTurn)
      return isExcluded(inOrder, best) ? excluded : times(inOrder, best)
    })
    expect(found.map(seconds)).toEqual(expected)
    expect(expected).toContainEqual(excluded)
  })

  it('nothing between the steps', async () => {
    const histories = randomHistories(['a', 'b', 'c', 'a', 'b', 'd', 'ab'], 8)
    const found = await asked(`funnelPath(${WINDOW}, 'strict', 3)`, STEPS, histories)
    const expected = histories.map((events) => {
      const inOrder = sorted(events, STEPS)
      return times(inOrder, bestWay(inOrder, rightAfter))
    })
    expect(found.map(seconds)).toEqual(expected)
  })

  it('steps in any order', async () => {
    const histories = randomHistories(['a', 'b', 'c', 'd'], 8)
    const found = await asked(`funnelPath(${WINDOW}, 'unordered', 3)`, STEPS, histories)
    const expected = histories.map((events) => {
      const within = events.map(([end]) => {
        const inWindow = events.filter(([time]) => time <= end && end - time <= WINDOW)
        return new Set(inWindow.map(([, letters]) => letters).filter((letter) => STEPS.includes(letter))).size
      })
      return Math.max(...within)
    })
    expect(found.map((path) => (path as string[]).length)).toEqual(expected)
  })

  it('windowFunnel, where an event counts for every step it meets', async () => {
    const histories = randomHistories(['a', 'b', 'c', 'ab', 'bc', 'abc', 'd'], 6)
    const found = await asked(`windowFunnel(${WINDOW})`, STEPS, histories)
    const expected = histories.map((events) => {
      const pairs = events
        .flatMap(([time, letters]) => [...letters].map((letter): Happened => [time, letter]))
        .toSorted((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1))
      return bestWay(pairs, inTurn).length
    })
    expect(found).toEqual(expected)
  })
})
