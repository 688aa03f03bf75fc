import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pageAnswer, readPage, urlWith, type Page } from './paging.ts'

describe('readPage', () => {
  it.each<[Record<string, unknown>, Page, string]>([
    [{}, { limit: 100, offset: 0 }, 'nothing given'],
    [{ limit: '10', offset: '20' }, { limit: 10, offset: 20 }, 'both given'],
    [{ limit: '1000' }, { limit: 1000, offset: 0 }, 'the most'],
    [{ limit: '1001' }, { limit: 1000, offset: 0 }, 'more than the most'],
    [{ limit: '99999999999999999999' }, { limit: 1000, offset: 0 }, 'more than a number can hold'],
    [{ limit: '0' }, { limit: 100, offset: 0 }, 'none'],
    [{ limit: '-5', offset: '-5' }, { limit: 100, offset: 0 }, 'negative'],
    [{ limit: 'ten', offset: 'far' }, { limit: 100, offset: 0 }, 'words'],
    [{ limit: '', offset: '' }, { limit: 100, offset: 0 }, 'empty'],
    [{ limit: '1.5', offset: '1e3' }, { limit: 100, offset: 0 }, 'not whole'],
    [{ limit: '0x10' }, { limit: 100, offset: 0 }, 'hexadecimal'],
    [{ limit: ['5', '6'], offset: ['1', '2'] }, { limit: 100, offset: 0 }, 'given twice'],
    [{ offset: '99999999999999999999' }, { limit: 100, offset: 2 ** 31 - 1 }, 'an offset past every end'],
    [{ limit: '9'.repeat(500) }, { limit: 1000, offset: 0 }, 'five hundred digits'],
  ])('%j is %j: %s', (query, page) => {
    expect(readPage(query)).toEqual(page)
  })

  it('always gives a page that a statement can take', () => {
    const value = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.array(fc.string()),
      fc.constant(undefined),
    )
    fc.assert(
      fc.property(value, value, (limit, offset) => {
        const page = readPage({ limit, offset })
        expect(page.limit).toBeGreaterThanOrEqual(1)
        expect(page.limit).toBeLessThanOrEqual(1000)
        expect(page.offset).toBeGreaterThanOrEqual(0)
        expect(Number.isSafeInteger(page.offset)).toBe(true)
      }),
    )
  })
})

describe('pageAnswer', () => {
  const url = new URL('http://longshore.test/api/organizations/?search=a%20b')
  const links = (limit: number, offset: number, count: number) => {
    const { next, previous } = pageAnswer(url, { limit, offset }, count, [])
    return { next: next?.split('?')[1] ?? null, previous: previous?.split('?')[1] ?? null }
  }

  it.each<[number, number, number, string | null, string | null, string]>([
    [10, 0, 5, null, null, 'everything on one page'],
    [10, 0, 10, null, null, 'exactly one page'],
    [10, 0, 11, 'search=a+b&limit=10&offset=10', null, 'the first of two'],
    [10, 10, 11, null, 'search=a+b&limit=10', 'the last of two: no offset on the way back to the start'],
    [10, 5, 30, 'search=a+b&limit=10&offset=15', 'search=a+b&limit=10', 'an offset within the first page'],
    [10, 20, 100, 'search=a+b&limit=10&offset=30', 'search=a+b&limit=10&offset=10', 'in the middle'],
    [10, 500, 3, null, 'search=a+b&limit=10&offset=490', 'past the end'],
    [10, 0, 0, null, null, 'nothing at all'],
  ])('limit %i, offset %i of %i: next %s, previous %s (%s)', (limit, offset, count, next, previous) => {
    expect(links(limit, offset, count)).toEqual({ next, previous })
  })

  it('leads through every row once, from the first page to the last and back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 9 }), (count, limit) => {
        const rows = Array.from({ length: count }, (_, index) => index)
        const seen: number[] = []
        let address: string | null = `http://longshore.test/api/things/?limit=${limit}`
        let previous: string | null = null
        while (address !== null) {
          const at: URL = new URL(address)
          const page = readPage(Object.fromEntries(at.searchParams))
          const answer = pageAnswer(at, page, count, rows.slice(page.offset, page.offset + page.limit))
          expect(answer.previous).toBe(previous)
          seen.push(...answer.results)
          previous = address
          address = answer.next
        }
        expect(seen).toEqual(rows)
      }),
    )
  })
})

describe('urlWith', () => {
  it('never repeats an API key that came in the address', () => {
    const url = new URL(
      'http://longshore.test/api/organizations/?personal_api_key=phx_secret&limit=5&personal_api_key=twice',
    )
    expect(urlWith(url, { cursor: '7' })).toBe('http://longshore.test/api/organizations/?limit=5&cursor=7')
  })

  it('leaves the address it was given as it was', () => {
    const url = new URL('http://longshore.test/x/?limit=5')
    urlWith(url, { limit: null })
    expect(url.search).toBe('?limit=5')
  })
})
