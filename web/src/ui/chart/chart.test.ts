// What charts are made of: stacks, ranges, and what stands at their axes.
import { describe, expect, it } from 'vitest'
import { numberTick, tickTexts } from './axis.ts'
import { colorOf, dashOf, stacked, stepOf, valueRange } from './series.ts'

describe('stacks', () => {
  it('each begins where the one before ended, and a gap is nothing', () => {
    expect(stacked([{ values: [1, null, 3] }, { values: [2, 5, null] }])).toEqual([
      [
        [0, 1],
        [0, 0],
        [0, 3],
      ],
      [
        [1, 3],
        [0, 5],
        [3, 3],
      ],
    ])
  })
})

describe('the room of a bar', () => {
  it.each([
    [[0, 60, 180], 60],
    [[0, 60, 60, 70], 10],
    [[5], 1],
    [[], 1],
  ])('%j', (points, step) => expect(stepOf(points)).toBe(step))
})

describe('the range of values', () => {
  it.each([
    ['bar', 90, 100, [0, 106]],
    ['line', 10, 100, [0, 106]],
    ['line', 90, 100, [89.4, 100.6]],
    ['line', -100, 100, [-112, 112]],
    ['bar', -100, -50, [-106, 0]],
    ['line', 0, 0, [0, 1]],
    ['line', 50, 50, [47, 53]],
    ['line', Infinity, -Infinity, [0, 1]],
  ] as const)('%s from %d to %d', (kind, min, max, range) => {
    const [from, to] = valueRange(kind, min, max)
    expect([from, to].map((value) => Math.round(value * 1000) / 1000)).toEqual(range)
    expect(to).toBeGreaterThan(from)
  })
})

describe('ticks', () => {
  const at = (text: string) => Date.parse(text) / 1000

  it('midnight in the zone is told by its day', () => {
    const ticks = [at('2026-11-16T22:00:00Z'), at('2026-11-16T23:00:00Z'), at('2026-11-17T00:00:00Z')]
    expect(tickTexts(ticks, 3600, 'Europe/Berlin')).toEqual(['23:00', '17 Nov', '01:00'])
    expect(tickTexts(ticks, 3600, 'UTC')).toEqual(['22:00', '23:00', '17 Nov'])
  })

  it.each([
    [30, '14:02:30'],
    [60, '14:02'],
    [86_400, '16 Nov'],
    [30 * 86_400, 'Nov 2026'],
    [365 * 86_400, '2026'],
  ])('%d seconds apart', (step, text) =>
    expect(tickTexts([at('2026-11-16T14:02:30Z')], step, 'UTC')).toEqual([text]),
  )

  it.each([
    [0, '0'],
    [1234.5, '1,234.5'],
    [1_200_000, '1.2M'],
    [-45_000, '-45K'],
  ])('%d', (value, text) => expect(numberTick(value)).toBe(text))
})

it('series are told apart by more than colour', () => {
  const seen = Array.from({ length: 8 }, (_, at) => `${colorOf({}, at)} ${dashOf(at).join()}`)
  expect(new Set(seen).size).toBe(8)
  expect(colorOf({ color: 'failed' }, 3)).toBe('failed')
})
