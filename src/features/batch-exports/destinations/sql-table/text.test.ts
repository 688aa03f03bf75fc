// COPY text and JSON text, taken apart and put together.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withoutBlanks, withoutRefused } from './clean-json.ts'
import { fieldsOf, lineOf } from './copy-text.ts'

describe('COPY text', () => {
  it.each([
    ['a\tb', ['a', 'b']],
    ['\\N\t', [null, '']],
    ['\\\\N\t\\\\n', ['\\N', '\\n']],
    ['tab\\there\tline\\nbreak\\r\\n', ['tab\there', 'line\nbreak\r\n']],
    ['\\b\\f\\v\\x', ['\b\f\vx']],
  ])('%j is %j', (line, fields) => {
    expect(fieldsOf(line)).toEqual(fields)
  })

  it('any values come back as they were, from one line', () => {
    const value = fc.oneof(
      fc.constant(null),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\\N', '\\', '\t\n\r'),
    )
    fc.assert(
      fc.property(fc.array(value, { minLength: 1 }), (fields) => {
        const line = lineOf(fields)
        // PostgreSQL takes either for the end of the row.
        expect(line).not.toMatch(/[\n\r]/)
        expect(fieldsOf(line)).toEqual(fields)
      }),
    )
  })
})

describe('JSON text', () => {
  it('that is clean stays as it is, and blanks between values mean nothing', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), (json) => {
        expect(withoutRefused(json)).toBe(json)
        expect(JSON.parse(withoutBlanks(JSON.stringify(JSON.parse(json), null, 2)))).toEqual(JSON.parse(json))
      }),
    )
  })

  it.each([
    [String.raw`"\u0000"`, '""'],
    [String.raw`"\\u0000\\\u0000"`, String.raw`"\\u0000\\"`],
    [String.raw`"\ud800\ud83d\ude00\udc00"`, String.raw`"\ud83d\ude00"`],
    [String.raw`"\uD83Dx\n"`, String.raw`"x\n"`],
  ])('%s becomes %s', (before, after) => {
    expect(withoutRefused(before)).toBe(after)
  })

  it('keeps blanks within texts', () => {
    expect(withoutBlanks(' { "a  b" : "\\" c\td", "e" : 1 } ')).toBe('{"a  b":"\\" c\td","e":1}')
  })
})
