import { expect, it } from 'vitest'
import type { OutputColumn } from '../../definition.ts'
import { compareRows, type Entry } from './compare-rows.ts'

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
  const problems = compareRows([row('expected', stored), row('table', found)], columns)
  expect(problems.every((problem) => problem.kind === 'changed_row')).toBe(true)
  return problems.flatMap((problem) => problem.columns)
}

it.each([
  ['integer', '7', '7.0'],
  ['integer', '9007199254740993', '9007199254740993'],
  ['float', '0.1', '1e-1'],
  ['float', '-0', '0'],
  ['float', 'nan', 'NaN'],
  ['float', '-inf', '-Infinity'],
  ['json', '{"a":1,"b":-0}', '{"b": 0, "a": 1.0}'],
  ['text', null, null],
] as const)('%s: %s and %s are one value', (kind, stored, found) => {
  expect(changed(kind, stored, found)).toEqual([])
})

it.each([
  ['integer', '9007199254740993', '9007199254740992'],
  ['integer', '7', null],
  ['float', '0.1', '0.2'],
  ['float', 'inf', '-inf'],
  ['float', 'nan', '0'],
  ['json', '{"a":1}', '{"a":"1"}'],
  ['text', 'a', 'A'],
  ['text', '7', '7.0'],
] as const)('%s: %s and %s are two', (kind, stored, found) => {
  expect(changed(kind, stored, found)).toEqual(['value'])
})
