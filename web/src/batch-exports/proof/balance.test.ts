import { describe, expect, it } from 'vitest'
import { balanceOf, missingIn, sumOf } from './balance.ts'

const COUNTS = { received: 100, exported: 80, filtered_out: 15, skipped: 2, pending: 3 }

describe('the bar', () => {
  it('has parts whose lengths make the whole, in the order of their numbers', () => {
    const { parts, addsUp } = balanceOf(COUNTS)!
    expect(parts.map(({ name }) => name)).toEqual(['exported', 'filtered_out', 'skipped', 'pending'])
    expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1)
    expect(addsUp).toBe(true)
  })

  it('says when an event is in no part, and leaves that length free', () => {
    const { parts, addsUp, difference } = balanceOf({ ...COUNTS, exported: 70 })!
    expect(addsUp).toBe(false)
    expect(difference).toBe(10)
    expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(0.9)
  })

  it('says when there are more rows than events, also where the API makes up for it by a part below zero', () => {
    expect(balanceOf({ ...COUNTS, exported: 90 })).toMatchObject({ addsUp: false, difference: -10 })
    const { addsUp, difference, parts } = balanceOf({ ...COUNTS, exported: 110, skipped: -28 })!
    expect(addsUp).toBe(false)
    expect(difference).toBe(-28)
    expect(Math.max(...parts.map(({ share }) => share))).toBeLessThanOrEqual(1)
  })

  it('of nothing is nothing, and adds up', () => {
    expect(balanceOf({ received: 0, exported: 0, filtered_out: 0, skipped: 0, pending: 0 })).toMatchObject({
      addsUp: true,
    })
  })

  it('is not there for what is no stream of events', () => {
    expect(
      balanceOf({ received: null, exported: 4, filtered_out: null, skipped: null, pending: null }),
    ).toBeNull()
  })
})

it('sums accounts, and knows what is missing', () => {
  expect(sumOf([COUNTS, COUNTS])).toEqual({
    received: 200,
    exported: 160,
    filtered_out: 30,
    skipped: 4,
    pending: 6,
  })
  expect(missingIn(COUNTS)).toBe(5)
})
