import { describe, expect, it } from 'vitest'
import { PagePlaces } from './page-places.ts'

const at = (ms: number) => new Date(1_700_000_000_000 + ms)
const place = (micros: number) => ({ micros: BigInt(micros), id: 'x' })

describe('PagePlaces', () => {
  it('finds a place by caller, question and offset, for ten minutes', () => {
    const places = new PagePlaces()
    places.keep('a', [1, 'q'], 100, place(7), at(0))
    expect(places.find('a', [1, 'q'], 100, at(599_999))).toMatchObject(place(7))
    expect(places.find('a', [1, 'q'], 100, at(600_000))).toBeUndefined()
    expect(places.find('b', [1, 'q'], 100, at(0))).toBeUndefined()
    expect(places.find('a', [2, 'q'], 100, at(0))).toBeUndefined()
    expect(places.find('a', [1, 'q'], 101, at(0))).toBeUndefined()
    places.keep('a', [1, 'q'], 100, place(8), at(1))
    expect(places.find('a', [1, 'q'], 100, at(1))).toMatchObject(place(8))
  })

  it('lets go of the oldest of a caller, and of the caller who has waited longest', () => {
    const places = new PagePlaces()
    places.keep('quiet', 'q', 1, place(1), at(0))
    for (let offset = 1; offset <= 21; offset++) places.keep('busy', 'q', offset, place(offset), at(0))
    const kept = Array.from(
      { length: 21 },
      (_, index) => places.find('busy', 'q', index + 1, at(0)) !== undefined,
    )
    expect(kept).toEqual([false, ...Array<boolean>(20).fill(true)])
    expect(places.find('quiet', 'q', 1, at(0))).toBeDefined()
    for (let caller = 0; caller < 999; caller++) places.keep(`caller ${caller}`, 'q', 1, place(1), at(0))
    expect(places.find('quiet', 'q', 1, at(0))).toBeUndefined()
    expect(places.find('busy', 'q', 21, at(0))).toBeDefined()
  })
})
