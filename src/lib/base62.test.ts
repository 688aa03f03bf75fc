import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { base62, randomBase62 } from './base62.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

describe('base62', () => {
  it.each([
    [[0], '00'],
    [[1], '01'],
    [[61], '0z'],
    [[62], '10'],
    [[255], '47'],
    [[0, 0], '000'],
    [[255, 255], 'H31'],
  ])('%j is %s', (bytes, text) => {
    expect(base62(Buffer.from(bytes))).toBe(text)
  })

  it('keeps every bit, and the length says only how many bytes there were', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
        const text = base62(Buffer.from(bytes))
        const value = [...text].reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n)
        expect(value).toBe(BigInt(`0x${Buffer.from(bytes).toString('hex')}`))
        expect(text).toHaveLength(Math.ceil((bytes.length * 8) / Math.log2(62)))
      }),
    )
  })
})

describe('randomBase62', () => {
  it('has only letters and digits, and never repeats', () => {
    const texts = Array.from({ length: 1000 }, () => randomBase62(35))
    expect(texts.every((text) => /^[0-9A-Za-z]{48}$/.test(text))).toBe(true)
    expect(new Set(texts).size).toBe(1000)
  })
})
