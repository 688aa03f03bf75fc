import { describe, expect, it } from 'vitest'
import { countEvents, firstEvent } from './holes.ts'

const holes = [
  { from: 3, to: 5 },
  { from: 5, to: 6 },
  { from: 10, to: 20 },
]

describe('positions with events', () => {
  it.each([
    [0, 3, 3, 1],
    [0, 4, 3, 1],
    [2, 7, 2, 3],
    [3, 6, 0, null],
    [4, 8, 2, 7],
    [12, 15, 0, null],
    [9, 22, 3, 10],
    [10, 21, 1, 21],
    [7, 7, 0, null],
    [9, 7, 0, null],
  ])('after %i up to %i there are %i, from %s on', (from, to, count, first) => {
    expect(countEvents({ from, to }, holes)).toBe(count)
    expect(firstEvent({ from, to }, holes)).toBe(first)
  })

  it('are all of them where there is no hole', () => {
    expect(countEvents({ from: 4, to: 9 }, [])).toBe(5)
    expect(firstEvent({ from: 4, to: 9 }, [])).toBe(5)
  })
})
