import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BoundPassed, parseBounded, passedBound } from './json-bounds.ts'

const bounds = { depth: 3, values: 10 }

describe('passedBound', () => {
  it.each<[string, string, 'depth' | 'values' | null]>([
    ['nesting at the limit', '[[[1]]]', null],
    ['nesting beyond it', '[[[[1]]]]', 'depth'],
    ['nesting that never ends', '['.repeat(1000), 'depth'],
    ['objects nest like lists', '{"a":{"a":{"a":{}}}}', 'depth'],
    ['lists beside each other', '[[],[],[]]', null],
    ['as many values as may be', '[1,2,3,4,5,6,7,8,9]', null],
    ['one more', '[1,2,3,4,5,6,7,8,9,10]', 'values'],
    ['empty lists', '[[],[],[],[],[],[]]', 'values'],
    ['brackets and commas within texts', '["[[[[[[{{{{,,,,,,,,,,,,"]', null],
    ['texts that end in backslashes', '["\\\\",[[1]],"a\\\\\\"[[[[",1]', null],
    ['a text that does not end', `["${'[,'.repeat(100)}`, null],
    ['names', '{"[[[[,,,,,,,,,,,,,":1}', null],
    ['no JSON', 'a', null],
  ])('%s', (_, text, expected) => {
    expect(passedBound(text, bounds)).toBe(expected)
  })

  it('counts what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const { depth, values } = sizeOf(value)
        const text = JSON.stringify(value)
        expect(passedBound(text, { depth, values })).toBe(null)
        if (depth > 0) expect(passedBound(text, { depth: depth - 1, values })).toBe('depth')
        expect(passedBound(text, { depth, values: values - 1 })).toBe('values')
      }),
    )
  })
})

describe('parseBounded', () => {
  it('parses what keeps the bounds', () => {
    expect(parseBounded('{"a":[1]}', bounds)).toEqual({ a: [1] })
  })

  it.each([
    ['nested too deep', '[[[[', 'depth'],
    ['too much', '[1,2,3,4,5,6,7,8,9,10', 'values'],
  ])('says of what is %s which bound it passes, though it is no JSON', (_, text, bound) => {
    expect(() => parseBounded(text, bounds)).toThrow(BoundPassed)
    expect(() => parseBounded(text, bounds)).toThrow(bound)
  })

  it('throws SyntaxError for what is no JSON', () => {
    expect(() => parseBounded('[[', bounds)).toThrow(SyntaxError)
  })
})

/** The slow and obvious way. */
function sizeOf(value: unknown): { depth: number; values: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 1 }
  const inner = Object.values(value).map(sizeOf)
  const count = (total: number, { values }: { values: number }) => total + values
  // An empty list holds as many commas as one with a single value.
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    values: inner.length === 0 ? 2 : inner.reduce(count, 1),
  }
}
