import { describe, expect, it } from 'vitest'
import { differenceOf, differenceOfTexts, folded, hasChanges } from './difference.ts'

const told = (before: object, after: object) =>
  differenceOf(before as never, after as never).map(({ mark, text }) => mark + text)

describe('a difference', () => {
  it('marks what came, went and changed, at its place', () => {
    const before = { event: 'paid', properties: { usd: 10, ssn: '1', deep: { a: 1, b: [1] } } }
    const after = {
      event: 'paid',
      properties: { usd: 10, deep: { a: 2, b: [1] }, eur: 9 },
      uuid: 'made up',
      now: 'x',
    }
    expect(told(before, after)).toEqual([
      ' {',
      '   "event": "paid",',
      '   "properties": {',
      '     "usd": 10,',
      '-    "ssn": "1",',
      '     "deep": {',
      '-      "a": 1,',
      '+      "a": 2,',
      '       "b": [',
      '         1',
      '       ]',
      '     },',
      '+    "eur": 9',
      '   }',
      ' }',
    ])
  })

  it('is none where only the time is written otherwise', () => {
    const written = (timestamp: string) => ({ event: 'paid', timestamp })
    const sent = written('2026-11-01T07:30:00.000000+00:00')
    expect(hasChanges(differenceOf(sent, written('2026-11-01T07:30:00Z')))).toBe(false)
    expect(hasChanges(differenceOf(sent, written('2026-11-01T07:30:01Z')))).toBe(true)
  })

  it('is none where only the server has filled in', () => {
    const lines = differenceOf(
      { event: 'paid' },
      { event: 'paid', uuid: 'u', properties: {}, timestamp: 't' },
    )
    expect(hasChanges(lines)).toBe(false)
    expect(hasChanges(differenceOf({ event: 'paid' }, { event: 'paid', properties: { a: 1 } }))).toBe(true)
  })

  it('an object in place of a value is both', () => {
    expect(told({ a: 1 }, { a: { b: 2 } })).toEqual([
      ' {',
      '-  "a": 1',
      '+  "a": {',
      '+    "b": 2',
      '+  }',
      ' }',
    ])
    expect(told({ a: {} }, { a: {} })).toEqual([' {', '   "a": {}', ' }'])
  })
})

describe('a difference of texts', () => {
  const text = (before: string, after: string) =>
    differenceOfTexts(before, after).map(({ mark, text: line }) => mark + line)

  it('marks lines that came and went, and keeps the most that stayed', () => {
    expect(text('a\nb\nc\nd\ne', 'a\nc\nx\nd\ny\ne')).toEqual([' a', '-b', ' c', '+x', ' d', '+y', ' e'])
    expect(text('a\nb', 'b\na')).toEqual(['-a', ' b', '+a'])
    expect(text('', 'a')).toEqual(['-', '+a'])
    expect(text('a\na', 'a')).toEqual([' a', '-a'])
  })

  it('of long texts that have little in common is told without comparing all lines', () => {
    const lines = (mark: string) => Array.from({ length: 3_000 }, (_, index) => `${mark}${index}`)
    const told = text(['same', ...lines('a')].join('\n'), ['same', ...lines('b')].join('\n'))
    expect(told).toHaveLength(6_001)
    expect(told.slice(0, 2)).toEqual([' same', '-a0'])
    expect(told.at(-1)).toBe('+b2999')
  })
})

it('what stays is folded, but for some lines around each change', () => {
  const before = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, index]))
  expect(
    folded(differenceOf(before, { ...before, k10: 'x' })).map((line) =>
      'left' in line ? line.left : line.mark,
    ),
  ).toEqual([9, ' ', ' ', '-', '+', ' ', ' ', 8])
})
