// Where empty rows go: no vector has more than it may, and events that are small have none between them.
import { describe, expect, it } from 'vitest'
import { fillVectors, type Vector } from './vectors.ts'

const EMPTY: Vector = { rows: 0, bytes: 0 }
const of = (count: number, size: number) => Array.from({ length: count }, () => size)

describe('vectors', () => {
  it('of small events have no empty rows', () => {
    expect(fillVectors(EMPTY, of(5000, 10), 100_000)).toEqual({
      runs: [{ from: 0, end: 5000, empty: 0 }],
      vector: { rows: 904, bytes: 9040 },
    })
  })

  it('end before the event that would be too much', () => {
    expect(fillVectors(EMPTY, [40, 60, 1, 99, 100], 100)).toEqual({
      runs: [
        { from: 0, end: 2, empty: 2046 },
        { from: 2, end: 4, empty: 2046 },
        { from: 4, end: 5, empty: 0 },
      ],
      vector: { rows: 1, bytes: 100 },
    })
  })

  it('go on where the last batch ended', () => {
    expect(fillVectors({ rows: 2047, bytes: 90 }, [5, 70], 100)).toEqual({
      runs: [{ from: 0, end: 2, empty: 0 }],
      vector: { rows: 1, bytes: 70 },
    })
    expect(fillVectors({ rows: 2047, bytes: 90 }, [70], 100).runs).toEqual([
      { from: 0, end: 0, empty: 1 },
      { from: 0, end: 1, empty: 0 },
    ])
  })

  it('hold an event that is larger than all that one may have', () => {
    expect(fillVectors(EMPTY, [500, 1], 100).runs).toEqual([
      { from: 0, end: 1, empty: 2047 },
      { from: 1, end: 2, empty: 0 },
    ])
  })
})
