import { describe, expect, it } from 'vitest'
import { byFamily, familyOf, moved, ordersFor } from './families.ts'

describe('families', () => {
  it('an app of several is listed once, where it works first', () => {
    expect(familyOf({ families: ['pipeline_import_apps', 'pipeline_destinations'] })).toBe(
      'pipeline_destinations',
    )
    expect(familyOf({ families: [] })).toBe('undecided')
  })

  it('are in the order of an event, without empty ones', () => {
    const groups = byFamily([
      { id: 1, families: ['pipeline_destinations' as const] },
      { id: 2, families: [] },
      { id: 3, families: ['pipeline_transformations' as const] },
    ])
    expect([...groups].map(([family, apps]) => [family, apps.map(({ id }) => id)])).toEqual([
      ['pipeline_transformations', [3]],
      ['pipeline_destinations', [1]],
      ['undecided', [2]],
    ])
  })
})

describe('moving', () => {
  it.each([
    [0, 2, 'bca'],
    [2, 0, 'cab'],
    [1, 1, 'abc'],
    [0, 9, 'bca'],
    [1, -4, 'bac'],
    [7, 0, 'abc'],
  ])('%d to %d', (from, to, expected) => expect(moved(['a', 'b', 'c'], from, to).join('')).toBe(expected))
})

describe('orders', () => {
  it('only what changes is sent, and orders of others between them stay free', () => {
    expect(
      ordersFor([
        { id: 3, order: 9 },
        { id: 1, order: 2 },
        { id: 2, order: 5 },
      ]),
    ).toEqual({ 3: 2, 1: 5, 2: 9 })
    expect(
      ordersFor([
        { id: 1, order: 2 },
        { id: 2, order: 5 },
      ]),
    ).toEqual({})
  })

  it('equal orders are told apart', () => {
    expect(
      ordersFor([
        { id: 2, order: 1 },
        { id: 1, order: 1 },
        { id: 3, order: 1 },
      ]),
    ).toEqual({ 1: 2, 3: 3 })
  })
})
