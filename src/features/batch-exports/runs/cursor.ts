// Lists read page by page with a cursor, as runs and backfills are. A cursor names the row at which a page ended and the
// way to go on from there, so that rows which come in meanwhile neither repeat nor hide others.
import { z } from 'zod'
import { isUuid } from '../../../lib/uuid.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { RequestFacts } from '../../../platform/http/route.ts'

export type Cursor = { towards: 'next' | 'previous'; id: string }

export function cursorPaged<Item extends z.ZodType>(item: Item) {
  return z.object({
    next: z.string().nullable(),
    previous: z.string().nullable(),
    results: z.array(item),
  })
}

/** Null without one: the list is read from its beginning. */
export function readCursor(text: string | undefined): Cursor | null {
  if (text === undefined) return null
  const id = text.slice(1)
  if (!/^[np]/.test(text) || !isUuid(id)) throw invalidCursor()
  return { towards: text.startsWith('n') ? 'next' : 'previous', id }
}

export function invalidCursor(): ApiError {
  return new ApiError('not_found', 'Invalid cursor')
}

function writeCursor({ towards, id }: Cursor): string {
  return `${towards === 'next' ? 'n' : 'p'}${id}`
}

/** `nearest` are the rows next to the cursor, nearest first, and one more than fit: it tells that another page follows. */
export function cursorPage<Row extends { id: string }, Item>(
  nearest: readonly Row[],
  size: number,
  from: Cursor | null,
  request: RequestFacts,
  present: (row: Row) => Item,
) {
  const hasMore = nearest.length > size
  const shown = nearest.slice(0, size)
  const rows = from?.towards === 'previous' ? shown.toReversed() : shown
  // Behind a reader there is the page they came from, unless they came from nowhere.
  const hasNext = from?.towards === 'previous' || hasMore
  const hasPrevious = from?.towards === 'previous' ? hasMore : from !== null
  const link = (towards: Cursor['towards'], row: Row | undefined) =>
    row ? request.urlWith({ cursor: writeCursor({ towards, id: row.id }) }) : null
  return {
    next: hasNext ? link('next', rows.at(-1)) : null,
    previous: hasPrevious ? link('previous', rows[0]) : null,
    results: rows.map(present),
  }
}
