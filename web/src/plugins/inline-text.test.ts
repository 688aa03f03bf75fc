import { describe, expect, it } from 'vitest'
import { inlineParts } from './inline-text.ts'

describe('hints', () => {
  it('have links, code and emphasis', () => {
    expect(inlineParts('See [the docs](https://example.com/a) for `key`, **now**.')).toEqual([
      { kind: 'text', text: 'See ' },
      { kind: 'link', text: 'the docs', href: 'https://example.com/a' },
      { kind: 'text', text: ' for ' },
      { kind: 'code', text: 'key' },
      { kind: 'text', text: ', ' },
      { kind: 'strong', text: 'now' },
      { kind: 'text', text: '.' },
    ])
    expect(inlineParts('at https://example.com/x.')).toMatchObject([
      {},
      { kind: 'link', href: 'https://example.com/x' },
      { text: '.' },
    ])
  })

  it.each([
    '[x](javascript:alert(1))',
    '<img src=x onerror=alert(1)>',
    '[x](data:text/html,1)',
    '[x](/etc)',
    '[a](b',
    '`',
    '****',
  ])('everything else is text: %s', (text) => {
    const parts = inlineParts(text)
    expect(parts.map((part) => part.text).join('')).toBe(text)
    expect(parts.every(({ kind }) => kind === 'text')).toBe(true)
  })
})
