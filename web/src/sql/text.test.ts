// Values in cells and files.
import { expect, it } from 'vitest'
import { cellText, csvOf, instantText, jsonOf } from './text.ts'

const result = {
  columns: ['a', 'a', 'b,c'],
  types: ['String', 'String', 'String'],
  rows: [
    ['x "y"', null, 'line\nbreak'],
    ['=1+1', -5, ['z', 1]],
  ],
}

it('CSV is quoted where it must be, and no cell is a formula', () => {
  expect(csvOf(result)).toBe('a,a,"b,c"\r\n"x ""y""",,"line\nbreak"\r\n\'=1+1,-5,"[""z"",1]"\r\n')
  expect(csvOf({ columns: ['@x'], types: [''], rows: [['-1'], ['+1e9'], ['-1+1']] })).toBe(
    "'@x\r\n-1\r\n+1e9\r\n'-1+1\r\n",
  )
})

it('JSON keeps every column', () => {
  expect(JSON.parse(jsonOf(result))).toEqual([
    { a: 'x "y"', a_2: null, 'b,c': 'line\nbreak' },
    { a: '=1+1', a_2: -5, 'b,c': ['z', 1] },
  ])
  expect(JSON.parse(jsonOf({ ...result, rows: [] }))).toEqual([])
})

it.each([
  ['2026-11-16T14:02:00Z', '2026-11-16 14:02:00'],
  ['2026-11-16T14:02:00.120000Z', '2026-11-16 14:02:00.120'],
  ['2026-11-16T14:02:00.123456Z', '2026-11-16 14:02:00.123456'],
  ['2026-11-16T14:02:00+01:00', '2026-11-16 14:02:00'],
])('%s', (value, text) => expect(instantText(value)).toBe(text))

it('cells are cut', () => {
  expect(cellText('x'.repeat(1000))).toHaveLength(401)
  expect(cellText({ a: 1 })).toBe('{"a":1}')
})
