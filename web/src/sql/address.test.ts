// The query in the address, and those of before.
import { describe, expect, it } from 'vitest'
import { addressOf, askedIn, validateSqlSearch } from './address.ts'
import { withPast, type Past } from './history.ts'

describe('the address', () => {
  it.each([
    'select 1',
    "select '?&#%'",
    `select '${'ü'.repeat(20_000)}'`,
    'x'.repeat(3_000),
    'x'.repeat(3_001),
  ])('%.20s comes back as it was', (text) => {
    const { search, hash } = addressOf(text)
    expect(askedIn(validateSqlSearch(search), hash)).toBe(text)
    expect((search.q ?? '').length).toBeLessThanOrEqual(3_000)
  })

  it.each([
    [{}, {}],
    [{ q: '' }, {}],
    [{ q: 5 }, { q: '5' }],
    [{ q: ['a'] }, { q: '["a"]' }],
    [
      { q: 'select 1', view: 'bar', row: 3, panel: 'history' },
      { q: 'select 1', view: 'bar', row: 3, panel: 'history' },
    ],
    [{ view: 'pie', row: -1, panel: 'x' }, {}],
    [{ row: 1.5 }, {}],
  ])('%j', (given, search) => expect(validateSqlSearch(given)).toEqual(search))

  it('what is no query is none', () => {
    expect(askedIn({}, 'content')).toBeUndefined()
    expect(askedIn({}, 'q=%zz')).toBe('%zz')
  })
})

describe('the history', () => {
  const past = (text: string): Past => ({ text, at: '2026-11-16T10:00:00Z', rows: 1, ms: 5 })

  it('a query run again moves to the top', () => {
    expect(withPast([past('a'), past('b')], past('b')).map(({ text }) => text)).toEqual(['b', 'a'])
  })

  it('is bounded in queries and in characters', () => {
    const many = Array.from({ length: 150 }, (_, at) => past(`select ${at}`))
    expect(withPast(many, past('new'))).toHaveLength(100)
    const long = Array.from({ length: 20 }, (_, at) => past(`${at}`.padEnd(60_000, 'x')))
    expect(withPast(long, past('new')).map(({ text }) => text.slice(0, 3))).toEqual([
      'new',
      '0xx',
      '1xx',
      '2xx',
      '3xx',
      '4xx',
      '5xx',
    ])
  })
})
