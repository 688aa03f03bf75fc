import { expect, it } from 'vitest'
import { exportSearch, listSearch, newSearch } from './search.ts'

it('keeps what the pages know and drops the rest', () => {
  expect(exportSearch({ run: 'a', status: 'failed', from: '2026-11-17T10:00:00Z', other: 1 })).toEqual({
    run: 'a',
    status: 'failed',
    from: '2026-11-17T10:00:00Z',
  })
  expect(exportSearch({ after: '-24h', before: '2026-11-17T10:00:00Z' })).toEqual({
    after: '-24h',
    before: '2026-11-17T10:00:00Z',
  })
  expect(listSearch({ q: 'lake', state: 'paused' })).toEqual({ q: 'lake', state: 'paused' })
})

it('drops what is no instant, no choice, or empty; a number is text', () => {
  expect(exportSearch({ from: 'soon', ask: 'everything', live: true, text: '' })).toEqual({})
  expect(exportSearch({ text: 404 })).toEqual({ text: '404' })
  expect(newSearch({ step: 'nowhere' })).toEqual({})
})
