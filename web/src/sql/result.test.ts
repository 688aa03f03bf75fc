// How answers are shown: picked by their shape, and nothing of them lost.
import { describe, expect, it } from 'vitest'
import type { View } from './address.ts'
import { chartOf, columnKind, numbersOf, pickView, viewDenials, type Result } from './result.ts'

const TYPES = {
  t: "DateTime64(6, 'UTC')",
  d: 'Date',
  n: 'UInt64',
  f: 'Nullable(Float64)',
  s: 'Nullable(String)',
  a: 'Array(String)',
}

/** One letter for each column's type. */
function result(kinds: string, rows: unknown[][]): Result {
  const letters = [...kinds] as (keyof typeof TYPES)[]
  return {
    columns: letters.map((letter, at) => `${letter}${at}`),
    types: letters.map((letter) => TYPES[letter]),
    rows,
  }
}

it.each([
  ['UInt64', 'number'],
  ['Nullable(Decimal(18, 3))', 'number'],
  ["Nullable(DateTime64(6, 'Europe/Berlin'))", 'time'],
  ['Date', 'day'],
  ['LowCardinality(Nullable(String))', 'text'],
  ['Tuple(String, String)', 'other'],
  ['Array(UInt8)', 'other'],
])('%s is a %s', (type, kind) => expect(columnKind(type)).toBe(kind))

const DAYS = ['2026-11-15', '2026-11-16']

describe('the view that is picked', () => {
  it.each<[string, Result, View]>([
    ['one number', result('n', [[5]]), 'number'],
    ['a few numbers', result('nnf', [[5, 6, 0.5]]), 'number'],
    ['one number beside a name', result('sn', [['a', 5]]), 'table'],
    [
      'numbers over time',
      result('dnn', [
        [DAYS[0], 1, 2],
        [DAYS[1], 3, 4],
      ]),
      'line',
    ],
    [
      'names over time',
      result('dsn', [
        [DAYS[0], 'a', 1],
        [DAYS[1], 'b', 2],
      ]),
      'line',
    ],
    [
      'names and two numbers over time',
      result('dsnn', [
        [DAYS[0], 'a', 1, 2],
        [DAYS[1], 'b', 2, 3],
      ]),
      'table',
    ],
    ['one point in time', result('dn', [[DAYS[0], 1]]), 'table'],
    [
      'events',
      result('tss', [
        [DAYS[0], 'a', 'b'],
        [DAYS[1], 'a', 'b'],
      ]),
      'table',
    ],
    [
      'events with a number',
      result('tssn', [
        [DAYS[0], 'a', 'b', 1],
        [DAYS[1], 'a', 'b', 2],
      ]),
      'table',
    ],
    [
      'names with numbers',
      result('sn', [
        ['a', 1],
        ['b', 2],
      ]),
      'bar',
    ],
    [
      'names that come twice',
      result('sn', [
        ['a', 1],
        ['a', 2],
      ]),
      'table',
    ],
    [
      'too many names',
      result(
        'sn',
        Array.from({ length: 51 }, (_, at) => [`n${at}`, at]),
      ),
      'table',
    ],
    [
      'two names and a number',
      result('ssn', [
        ['a', 'b', 1],
        ['c', 'd', 2],
      ]),
      'table',
    ],
    [
      'hours',
      result('nn', [
        [0, 10],
        [1, 20],
      ]),
      'bar',
    ],
    [
      'lists',
      result('an', [
        [['a'], 1],
        [['b'], 2],
      ]),
      'table',
    ],
    ['nothing', result('dn', []), 'table'],
  ])('%s', (_what, given, view) => {
    expect(pickView(given)).toBe(view)
    expect(viewDenials(given)[view]).toBeNull()
  })
})

describe('views that can be chosen', () => {
  const open = (given: Result) =>
    Object.entries(viewDenials(given))
      .filter(([, denial]) => denial === null)
      .map(([view]) => view)
  it.each<[string, Result, string[]]>([
    ['names', result('sn', [['a', 1]]), ['table', 'bar', 'number']],
    [
      'times',
      result('tn', [
        [DAYS[0], 1],
        [DAYS[1], 2],
      ]),
      ['table', 'line', 'bar'],
    ],
    ['texts alone', result('ss', [['a', 'b']]), ['table']],
    ['one number', result('n', [[1]]), ['table', 'number']],
    ['no rows', result('sn', []), ['table']],
  ])('%s', (_what, given, views) => expect(open(given)).toEqual(views))
})

describe('charts', () => {
  it('points are in order, and what is no number is a gap', () => {
    const chart = chartOf(
      result('dnf', [
        [DAYS[1], 2, null],
        [DAYS[0], '18446744073709551615', 0.5],
      ]),
    )!
    expect(chart.x).toEqual({ kind: 'day', values: DAYS.map((day) => Date.parse(day)) })
    expect(chart.series).toEqual([
      { label: 'n1', values: [2 ** 64, 2] },
      { label: 'f2', values: [0.5, null] },
    ])
  })

  it('a series for each name, largest first, and the ninth and further as one', () => {
    const rows = Array.from({ length: 10 }, (_, at) => [DAYS[at % 2], `n${at}`, 10 - at])
    const { x, series, isSplit } = chartOf(result('dsn', rows))!
    expect([x.values.length, isSplit]).toEqual([2, true])
    expect(series.map(({ label }) => label)).toEqual(['n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', '3 others'])
    expect(series[0]!.values).toEqual([10, null])
    expect(series.at(-1)!.values).toEqual([2, 3 + 1])
    const total = series.flatMap(({ values }) => values).reduce<number>((sum, value) => sum + (value ?? 0), 0)
    expect(total).toBe(55)
  })

  it('names that are missing are named so', () => {
    expect(
      chartOf(
        result('sn', [
          [null, 1],
          ['', 2],
        ]),
      )!.x.values,
    ).toEqual(['null', '(empty)'])
  })

  it('rows without a time are left out', () => {
    expect(
      chartOf(
        result('tn', [
          [null, 1],
          ['2026-11-16T10:00:00+01:00', 2],
        ]),
      )!.x.values,
    ).toEqual([Date.parse('2026-11-16T09:00:00Z')])
  })
})

it('numbers by their columns', () => {
  expect(numbersOf(result('sn', [['a', 5]]))).toEqual([{ label: 'n1', value: 5 }])
  expect(numbersOf(result('n', [[1], [2]]))).toBeNull()
})
