import { describe, expect, it } from 'vitest'
import { offsetOf, problemsIn } from './places.ts'

const TEXT = 'const a = 1\nthrow b.c\n'

describe('places', () => {
  it.each([
    [1, 1, 0],
    [2, 7, 18],
    [2, 99, 21],
    [9, 1, 22],
    [null, null, 0],
  ])('%s:%s', (line, column, offset) => expect(offsetOf(TEXT, { line, column })).toBe(offset))

  it('an error underlines its word, in its file', () => {
    const errors = [
      { file: 'index.ts', line: 2, column: 7, message: 'b is not defined' },
      { file: 'index.ts', line: 1, column: 9, message: 'no' },
      { file: 'site.ts', line: 1, column: 1, message: 'elsewhere' },
    ]
    expect(problemsIn('index.ts', TEXT, errors)).toEqual([
      { from: 18, to: 19, message: 'b is not defined' },
      { from: 8, to: 11, message: 'no' },
    ])
  })
})
