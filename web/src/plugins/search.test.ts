import { expect, it } from 'vitest'
import { readAppSearch, readListSearch } from './search.ts'

it('what an address says is taken, and what makes no sense is not', () => {
  expect(readListSearch({ q: 12, other: 1 })).toEqual({ q: '12' })
  expect(readListSearch({ q: '' })).toEqual({})
  expect(
    readAppSearch({ types: ['ERROR', 'x', 'LOG'], range: '7d', line: '3', file: 'site.ts', at: '3:4' }),
  ).toEqual({
    types: ['LOG', 'ERROR'],
    range: '7d',
    line: 3,
    file: 'site.ts',
    at: '3:4',
  })
  expect(readAppSearch({ types: 'x', range: 'toString', line: 'x', at: '3', error: {}, calls: '' })).toEqual(
    {},
  )
})
