// How rows are hashed and added up, on our side.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Digest } from '../destination.ts'
import { addRow, bucketOf, digestOf, exactColumns, rowSums, rowText } from './digest.ts'
import { readFloat, sortedJson, spellValue } from './spell.ts'

describe('a row', () => {
  it('is told from others by its nulls and by where values end', () => {
    const texts = [
      [null, ''],
      ['', null],
      [null, null],
      ['', ''],
      ['a', 'b'],
      ['ab', ''],
      ['-', ''],
    ].map(rowText)
    expect(new Set(texts).size).toBe(texts.length)
  })

  it('has the sums of its MD5', () => {
    // md5sum of `=a`, the separator, `-`, the separator.
    expect(rowSums(['a', null]).map((sum) => sum.toString(16))).toEqual(['36c5c57c', '9ab04c1b'])
  })

  it('belongs to a bucket by the end of its uuid', () => {
    expect(bucketOf('018e0000-0000-7000-8000-0000000ABCDE')).toBe('cde')
    expect(bucketOf('x')).toBe('x')
    expect(bucketOf(null)).toBe('')
  })
})

describe('sums', () => {
  it('stay exact, and are the same in any order and from a warehouse', () => {
    const rows = Array.from({ length: 1000 }, (_, index) => [String(index)])
    const [one, other] = [new Map<string, Digest>(), new Map<string, Digest>()]
    for (const row of rows) addRow(one, '', row)
    for (const row of rows.toReversed()) addRow(other, '', row)
    expect(one).toEqual(other)
    const total = (at: 0 | 1) => rows.reduce((sum, row) => sum + BigInt(rowSums(row)[at]), 0n)
    expect(one.get('')).toEqual(digestOf('1000', String(total(0)), String(total(1))))
    expect(total(0)).toBeGreaterThan(2n ** 40n)
    // More rows than numbers could add up.
    expect(digestOf('3', String(2n ** 70n + 5n), '7')).toEqual({ rows: 3, sums: [5, 7] })
  })
})

describe('values', () => {
  it.each([
    ['text', '', ''],
    ['text', 'null', 'null'],
    ['integer', 7, '7'],
    ['integer', '9007199254740993', '9007199254740993'],
    ['boolean', false, 'false'],
    ['timestamp', '2024-03-01T10:00:00.123456Z', '1709287200123456'],
    ['timestamp', '1969-12-31T23:59:59.999999Z', '-1'],
    ['timestamp', '9999-12-31T23:59:59.999999Z', '253402300799999999'],
    ['timestamp', '55840-12-07T02:26:40.000001Z', '1700002434400000001'],
    ['timestamp', '275761-01-01T00:00:00.000001Z', '275761-01-01T00:00:00.000001Z'],
    ['float', 0.1, '0:115292150460684704'],
    ['float', -0, '0:0'],
    ['float', -0.0000005, '-0:576460752303'],
    ['float', 123456.5, '123456:576460752303423488'],
    ['float', 2 ** 59, '576460752303423488:0'],
    ['float', 1e18, '0:1000000000000000000u'],
    ['float', -(2 ** 100), '-1099511627776:0u'],
    ['float', 1e36, 'huge'],
  ] as const)('%s %j is %s', (kind, value, spelled) => {
    expect(spellValue(kind, value)).toBe(spelled)
  })

  it('floats are read as they were spelled, to the last bit', () => {
    const isCompared = (value: number) => value === 0 || (Math.abs(value) > 1e-6 && Math.abs(value) < 1e36)
    const floats = fc.oneof(fc.double({ noNaN: true }), fc.float({ noNaN: true })).filter(isCompared)
    fc.assert(
      fc.property(floats, (value) => {
        const read = readFloat(spellValue('float', value))!
        expect(Math.abs(read - value)).toBeLessThan(2 ** -59)
        if (Math.abs(value) > 0.01) expect(read).toBe(value)
      }),
    )
    expect(['huge', '-huge', '1.5', ''].map(readFloat)).toEqual([null, null, null, null])
  })

  it('JSON has its keys in order, at any depth', () => {
    expect(sortedJson({ b: [{ z: 1, a: null }], a: 'ü', B: true })).toBe(
      '{"B":true,"a":"ü","b":[{"a":null,"z":1}]}',
    )
  })

  it('integers are read as texts, all else as it is', () => {
    expect(
      exactColumns([
        { name: 'n', kind: 'integer' },
        { name: 'f', kind: 'float' },
      ]),
    ).toEqual([
      { name: 'n', kind: 'text' },
      { name: 'f', kind: 'float' },
    ])
  })
})
