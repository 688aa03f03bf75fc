import { describe, expect, it } from 'vitest'
import { slugify } from './slug.ts'

describe('slugify', () => {
  it.each([
    ['Acme', 'acme'],
    ['ACME Corp 2', 'acme-corp-2'],
    ['  Acme  ', 'acme'],
    ["O'Reilly & Sons, Ltd.", 'o-reilly-sons-ltd'],
    ['a---b___c', 'a-b-c'],
    ['-a-', 'a'],
    ['Größe', 'grosse'],
    ['Ærøskøbing', 'aeroskobing'],
    ['Łódź', 'lodz'],
    ['İstanbul Iğdır', 'istanbul-igdir'],
    ['Þór Ðuro Đakovo', 'thor-duro-dakovo'],
    ['Ħal Ŧan Ŋamu', 'hal-tan-namu'],
    ['e\u0301cole', 'ecole'],
    ['ﬁne ①②', 'fine-12'],
    ['Ａｃｍｅ', 'acme'],
    ['日本 KK', 'kk'],
    ['caf🙂e', 'caf-e'],
    ['', ''],
    ['---', ''],
    ['日本語', ''],
    ['🙂', ''],
  ])('%j becomes %j', (name, slug) => {
    expect(slugify(name, 48)).toBe(slug)
  })

  it('cuts to the length, and never leaves a dash at the cut', () => {
    expect(slugify('a'.repeat(60), 48)).toBe('a'.repeat(48))
    expect(slugify(`${'a'.repeat(47)} b`, 48)).toBe('a'.repeat(47))
    expect(slugify(`  ${'a'.repeat(48)}`, 48)).toBe('a'.repeat(48))
    expect(slugify('ß'.repeat(30), 48)).toBe('s'.repeat(48))
  })

  it('gives only lower-case letters, digits and single dashes, whatever comes in', () => {
    const names = Array.from({ length: 0x3000 }, (_, code) => `x${String.fromCodePoint(code)}y`)
    expect(
      names.map((name) => slugify(name, 48)).filter((slug) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)),
    ).toEqual([])
  })
})
