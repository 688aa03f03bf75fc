import { describe, expect, it } from 'vitest'
import { storableText } from './storable-text.ts'

describe('storableText', () => {
  it.each([
    ['plain', 'plain'],
    ['', ''],
    ['a\0b\0', 'ab'],
    ['\ud800 half', '\ufffd half'],
    ['half \udc00', 'half \ufffd'],
    ['whole 😀', 'whole 😀'],
    ['exactly twenty bytes', 'exactly twenty bytes'],
    ['twenty-one bytes long', 'twenty-one bytes …'],
    ['ääääääääää', 'ääääääääää'],
    ['äääääääääää', 'ääääääää…'],
    ['ab😀😀😀😀😀', 'ab😀😀😀…'],
    ['abcdefghijklmnopqrs\0\0\0', 'abcdefghijklmnopq…'],
  ])('keeps %j to 20 bytes as %j', (text, kept) => {
    expect(storableText(text, 20)).toBe(kept)
    expect(Buffer.byteLength(storableText(text, 20))).toBeLessThanOrEqual(20)
  })

  it('tears no pair where it cuts', () => {
    for (let before = 0; before < 8; before++) {
      const kept = storableText('x'.repeat(before) + '😀'.repeat(1_000), 1_000)
      expect(kept).toMatch(/^x*(?:😀)+…$/u)
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(1_000)
    }
  })
})
