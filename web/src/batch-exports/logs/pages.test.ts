import { expect, it } from 'vitest'
import type { LogEntry } from '../queries.ts'
import { nextPage } from './pages.ts'

const line = (timestamp: string) => ({ timestamp }) as LogEntry
const page = (next: string | null, ...timestamps: string[]) => ({ next, results: timestamps.map(line) })
const [NEW, OLD, OLDEST] = [
  '2026-11-17T10:00:00.123Z',
  '2026-11-17T09:00:00.000Z',
  '2026-11-16T00:00:00.000Z',
]

it('counts older lines from the newest that was there at first', () => {
  const first = page('more', NEW, OLD)
  const before = '2026-11-17T10:00:00.124Z'
  expect(nextPage([first])).toEqual({ offset: 2, before })
  expect(nextPage([first, page('more', OLDEST)])).toEqual({ offset: 3, before })
})

it('keeps to the end of a chosen range', () => {
  expect(nextPage([page('more', NEW)], '2026-11-18T00:00:00Z')).toEqual({
    offset: 1,
    before: '2026-11-18T00:00:00Z',
  })
})

it('ends with the last page', () => {
  expect(nextPage([page('more', NEW), page(null, OLD)])).toBeUndefined()
  expect(nextPage([page(null)])).toBeUndefined()
})
