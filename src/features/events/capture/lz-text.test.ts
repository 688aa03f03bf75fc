import fc from 'fast-check'
import lz from 'lz-string'
import { describe, expect, it } from 'vitest'
import { decompressLz, LzTooLong } from './lz-text.ts'

const LIMIT = 1_000_000
const packed = (text: string) => lz.compressToBase64(text)

describe('decompressLz', () => {
  it.each([
    ['plain', '{"event":"a","distinct_id":"b"}'],
    ['repeating', 'abc'.repeat(5000)],
    ['one character only', 'a'.repeat(10_000)],
    ['one character', 'x'],
    ['wide characters', 'größer 漢字 😀'.repeat(50)],
    ['a lone surrogate', 'a\ud800b'],
    ['empty', ''],
  ])('reads what the library packs: %s', (_, text) => {
    expect(decompressLz(packed(text), LIMIT)).toBe(text)
  })

  it('reads every text the library packs', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 3000 }),
    )
    fc.assert(
      fc.property(text, (given) => {
        expect(decompressLz(packed(given), LIMIT)).toBe(given)
      }),
    )
  })

  it('stops at the limit', () => {
    const text = 'a'.repeat(1000)
    expect(decompressLz(packed(text), 1000)).toBe(text)
    expect(() => decompressLz(packed(text), 999)).toThrow(LzTooLong)
  })

  it('stops a bomb before it has grown', () => {
    // Each phrase is one longer than the last, so the output grows with the square of the input.
    const bomb = packed('a'.repeat(400_000))
    expect(bomb.length).toBeLessThan(2_000)
    const before = process.memoryUsage().arrayBuffers
    expect(() => decompressLz(bomb, 10_000)).toThrow(LzTooLong)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000)
  })

  it.each([
    ['cut off', packed('some text that is long enough').slice(0, 20)],
    ['other characters', 'N4Ig!!!!'],
    ['nothing', ''],
    ['a phrase that is not there', '////////'],
  ])('gives null for input that is %s', (_, input) => {
    expect(decompressLz(input, LIMIT)).toBe(null)
  })

  it('ends on every input whatever it is', () => {
    const input = fc.string({ unit: fc.constantFrom(...'ABCDabcd0189+/='), maxLength: 300 })
    fc.assert(
      fc.property(input, (text) => {
        const read = decompressLz(text, 2_000_000)
        expect(read === null || typeof read === 'string').toBe(true)
      }),
    )
  })
})
