import { expect, it } from 'vitest'
import { distinctRows } from './rows.ts'

const row = (id: number, name = `row ${id}`) => ({ id, name })

it('a row that moved to the next page is there once, as it was told last', () => {
  const pages = [
    { results: [row(4), row(3)] },
    { results: [row(3, 'renamed'), row(2)] },
    { results: [row(1)] },
  ]
  expect(distinctRows(pages, ({ id }) => id)).toEqual([row(4), row(3, 'renamed'), row(2), row(1)])
  expect(distinctRows([], ({ id }: { id: number }) => id)).toEqual([])
})
