// limit/offset lists: reading the two parameters, and the {count, next, previous, results} answer.
import { z } from 'zod'

export type Page = { limit: number; offset: number }
export type PagedAnswer<Item> = {
  count: number
  next: string | null
  previous: string | null
  results: Item[]
}

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000
// Beyond this PostgreSQL's bigint would be at risk; no list is that long.
const MAX_OFFSET = 2 ** 31 - 1

/** Wrong values are never an error: they fall back to the defaults, as PostHog's clients expect. */
export function readPage(query: Record<string, unknown>): Page {
  const limit = wholeNumber(query.limit)
  const offset = wholeNumber(query.offset)
  return {
    limit: limit > 0 ? Math.min(limit, MAX_LIMIT) : DEFAULT_LIMIT,
    offset: Math.min(offset, MAX_OFFSET),
  }
}

/** `url` is the absolute address of this request; its other parameters are kept. */
export function pageAnswer<Item>(url: URL, page: Page, count: number, results: Item[]): PagedAnswer<Item> {
  const { limit, offset } = page
  return {
    count,
    next: offset + limit < count ? pageUrl(url, limit, offset + limit) : null,
    previous: offset > 0 ? pageUrl(url, limit, offset - limit) : null,
    results,
  }
}

export function paged<Item extends z.ZodType>(item: Item) {
  return z.object({
    count: z.int(),
    next: z.string().nullable(),
    previous: z.string().nullable(),
    results: z.array(item),
  })
}

// Any value is taken (wrong ones fall back to the default), so only the document speaks of integers.
export const PageQuery = z.object({
  limit: z
    .unknown()
    .optional()
    .meta({ type: 'integer', description: 'Results per page: 100 unless told, 1000 at most.' }),
  offset: z.unknown().optional().meta({ type: 'integer', description: 'Index of the first result.' }),
})

function pageUrl(url: URL, limit: number, offset: number): string {
  return urlWith(url, { limit: String(limit), offset: offset > 0 ? String(offset) : null })
}

/** The same address with parameters set, or dropped where null. A key in the address is never repeated. */
export function urlWith(url: URL, parameters: Record<string, string | null>): string {
  const changed = new URL(url)
  changed.searchParams.delete('personal_api_key')
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null) changed.searchParams.delete(name)
    else changed.searchParams.set(name, value)
  }
  return changed.href
}

function wholeNumber(value: unknown): number {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : 0
}
