import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Area } from '../../../platform/event-store/export-rows.ts'
import { intersect, isOfAnyTime, subtract } from './areas.ts'

const EDGE = 8
const instant = (value: number | null) => (value === null ? null : new Date(value))
const area = (seq_from: number, seq_to: number, time_from: number | null, time_to: number | null): Area => ({
  seq_from,
  seq_to,
  time_from: instant(time_from),
  time_to: instant(time_to),
})

const anArea = fc
  .tuple(fc.nat(EDGE - 1), fc.nat(EDGE - 1), fc.option(fc.nat(EDGE)), fc.option(fc.nat(EDGE)))
  .map(([one, other, from, to]) => {
    const [low, high] = [Math.min(one, other), Math.max(one, other) + 1]
    return from !== null && to !== null && from >= to
      ? area(low, high, to, from + 1)
      : area(low, high, from, to)
  })

/** Every point of the plane that has a chance to be in one of the areas. */
const POINTS = Array.from({ length: EDGE }, (_, seq) =>
  Array.from({ length: EDGE + 3 }, (__, time) => ({ seq: seq + 1, time: time - 1 })),
).flat()

const holds = (
  { seq_from, seq_to, time_from, time_to }: Area,
  { seq, time }: { seq: number; time: number },
) =>
  seq > seq_from &&
  seq <= seq_to &&
  (time_from === null || time >= time_from.getTime()) &&
  (time_to === null || time < time_to.getTime())

describe('areas', () => {
  it('what is left holds every point that was not taken, once, and no other', () => {
    fc.assert(
      fc.property(anArea, fc.array(anArea, { maxLength: 6 }), (whole, taken) => {
        const rest = subtract(whole, taken)
        for (const point of POINTS) {
          const isFree = holds(whole, point) && !taken.some((each) => holds(each, point))
          expect(rest.filter((part) => holds(part, point)).length).toBe(isFree ? 1 : 0)
        }
      }),
      { numRuns: 400, seed: 6 },
    )
  })

  it('have in common what both hold', () => {
    fc.assert(
      fc.property(anArea, anArea, (one, other) => {
        const common = intersect(one, other)
        for (const point of POINTS) {
          expect(common !== null && holds(common, point)).toBe(holds(one, point) && holds(other, point))
        }
      }),
      { numRuns: 400, seed: 6 },
    )
  })

  it('a month of neighbouring runs leaves one hole, not seven hundred', () => {
    const hours = Array.from({ length: 720 }, (_, hour) => area(100, 200, hour, hour + 1))
    expect(subtract(area(90, 300, null, null), hours)).toEqual([
      area(100, 200, null, 0),
      area(90, 100, null, null),
      area(200, 300, null, null),
      area(100, 200, 720, null),
    ])
    const runs = Array.from({ length: 720 }, (_, index) => area(index * 10, index * 10 + 10, null, null))
    expect(subtract(area(0, 7300, 5, 6), runs)).toEqual([area(7200, 7300, 5, 6)])
  })

  it('of any time: those of the schedule', () => {
    expect(isOfAnyTime(area(0, 1, null, null))).toBe(true)
    expect(isOfAnyTime(area(0, 1, 5, null))).toBe(false)
  })
})
