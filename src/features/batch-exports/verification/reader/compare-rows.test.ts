import { describe, expect, it } from 'vitest'
import type { OutputColumn } from '../../definition.ts'
import { spellValue } from '../../destinations/warehouse/spell.ts'
import { compareRows, type Entry } from './compare-rows.ts'

const float = (value: number) => spellValue('float', value)

const row = (from: Entry['from'], value: string | null): Entry => ({
  from,
  position: 1,
  at: null,
  values: ['id', value],
})

function changed(kind: OutputColumn['kind'], stored: string | null, found: string | null): string[] {
  const columns = [
    { name: 'uuid', kind: 'text' },
    { name: 'value', kind },
  ] as OutputColumn[]
  const problems = compareRows([row('expected', stored), row('table', found)], columns, false)
  expect(problems.every((problem) => problem.kind === 'changed_row')).toBe(true)
  return problems.flatMap((problem) => problem.columns)
}

it.each([
  ['integer', '7', '7.0'],
  ['integer', '9007199254740993', '9007199254740993'],
  ['float', float(0.1), float(0.1 + 2 ** -56)],
  ['float', float(1e30), float(1e30 + 2 ** 47)],
  ['float', float(-0), float(0)],
  ['float', float(1e40), float(1e50)],
  ['json', '{"a":1,"b":-0}', '{"b": 0, "a": 1.0}'],
  ['json', '{"id":[9007199254740993]}', '{"id": [9007199254740993]}'],
  ['json', '9007199254740993', '9.007199254740992e15'],
  ['text', null, null],
] as const)('%s: %s and %s are one value', (kind, stored, found) => {
  expect(changed(kind, stored, found)).toEqual([])
})

it.each([
  ['integer', '9007199254740993', '9007199254740992'],
  ['integer', '7', null],
  ['float', float(0.1), float(0.1 + 2 ** -52)],
  ['float', float(1e-9), float(2e-9)],
  ['float', float(1e30), float(2e30)],
  ['float', float(1e40), float(-1e40)],
  ['float', float(1e40), float(0)],
  ['json', '{"a":1}', '{"a":"1"}'],
  ['json', '{"id":[9007199254740993]}', '{"id": [9007199254740992]}'],
  ['json', '{"a":1}', '{"a":1,"b":1}'],
  ['json', '{"a":1}', '{"b":1}'],
  ['json', '[]', '{}'],
  ['text', 'a', 'A'],
  ['text', '7', '7.0'],
] as const)('%s: %s and %s are two', (kind, stored, found) => {
  expect(changed(kind, stored, found)).toEqual(['value'])
})

describe('events of one uuid', () => {
  const COLUMNS: OutputColumn[] = [
    { name: 'uuid', kind: 'text' },
    { name: 'event', kind: 'text' },
    { name: 'timestamp', kind: 'timestamp' },
  ]
  const entry = (from: Entry['from'], event: string, time: string | null): Entry => ({
    from,
    position: from === 'table' ? null : 1,
    at: null,
    values: ['id', event, time],
  })
  const [A, B] = [entry('expected', 'a', '1'), entry('expected', 'b', '2')]
  const [a, b, lost] = [entry('table', 'a', '1'), entry('table', 'b', '2'), entry('table', 'a', null)]
  const kinds = (entries: readonly Entry[], is_by_time: boolean) =>
    compareRows(entries, COLUMNS, is_by_time).map(({ kind }) => kind)

  it.each<[what: string, entries: Entry[], by_time: string[], by_uuid: string[]]>([
    ['all there', [A, B, a, b], [], []],
    ['one of two', [A, B, a], ['missing_row'], []],
    ['none', [A, B], ['missing_row', 'missing_row'], ['missing_row', 'missing_row']],
    ['one of them twice', [A, B, a, b, b], ['doubled_row'], ['doubled_row']],
    ['a changed cell', [A, B, a, entry('table', 'x', '2')], ['changed_row'], ['changed_row']],
    ['a changed time', [A, entry('table', 'a', '3')], ['missing_row', 'stray_row'], ['changed_row']],
    ['a lost time', [A, B, lost, b], ['changed_row'], ['changed_row']],
    ['a row without a time beside all', [A, a, lost], ['stray_row'], ['doubled_row']],
    ['one under way', [A, entry('open', 'b', '2'), a, b], [], []],
    ['only one that is under way', [A, entry('open', 'b', '2'), b], ['missing_row'], []],
  ])('%s', (_, entries, by_time, by_uuid) => {
    expect(kinds(entries, true)).toEqual(by_time)
    expect(kinds(entries, false)).toEqual(by_uuid)
  })

  it('also of one time: one or both are there, as one of them is', () => {
    const again = entry('expected', 'again', '1')
    const other = entry('table', 'again', '1')
    for (const found of [[a], [other], [a, other], [a, a]])
      expect(kinds([A, again, ...found], true)).toEqual([])
    expect(kinds([A, again, a, other, a], true)).toEqual(['doubled_row'])
    expect(kinds([A, again, entry('table', 'x', '1')], true)).toEqual(['changed_row'])
    expect(kinds([A, again, a, entry('table', 'x', '1')], true)).toEqual(['changed_row'])
  })

  it('are compared in seconds where somebody has given one uuid to thousands, and all are changed', () => {
    const numbers = Array.from({ length: 2_000 }, (_, number) => number)
    const rows = (from: Entry['from'], event: string) =>
      numbers.map((number) => entry(from, `${event} ${number}`, String(number)))
    const began = performance.now()
    const changed = kinds([...rows('expected', 'a'), ...rows('table', 'b').toReversed()], false)
    expect(changed).toEqual(numbers.map(() => 'changed_row'))
    expect(kinds([...rows('expected', 'a'), ...rows('table', 'a').toReversed()], false)).toEqual([])
    // Each with each of the others of each: an hour.
    expect(performance.now() - began).toBeLessThan(20_000)
  })
})
