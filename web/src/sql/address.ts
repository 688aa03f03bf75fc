// The query in the address: `?q=`, or behind `#` when it is too long to be sent along with every request.

export const VIEWS = ['table', 'line', 'bar', 'number'] as const
export type View = (typeof VIEWS)[number]

export type SqlSearch = { q?: string; view?: View; row?: number; panel?: 'history' }

/** Servers and proxies refuse longer ones, the browser sends the address as `Referer` too. */
const MOST_IN_QUERY = 3_000
const PREFIX = 'q='

export function validateSqlSearch({ q, view, row, panel }: Record<string, unknown>): SqlSearch {
  return {
    // A query that is a number or a word of JSON is read as that.
    ...(q === undefined || q === '' ? {} : { q: typeof q === 'string' ? q : JSON.stringify(q) }),
    ...(VIEWS.includes(view as View) ? { view: view as View } : {}),
    ...(typeof row === 'number' && Number.isSafeInteger(row) && row >= 0 ? { row } : {}),
    ...(panel === 'history' ? { panel } : {}),
  }
}

/** Where a query is asked. */
export function addressOf(text: string): { search: SqlSearch; hash: string } {
  return encodeURIComponent(text).length <= MOST_IN_QUERY
    ? { search: { q: text }, hash: '' }
    : { search: {}, hash: `${PREFIX}${encodeURIComponent(text)}` }
}

export function askedIn({ q }: SqlSearch, hash: string): string | undefined {
  if (q !== undefined) return q
  if (!hash.startsWith(PREFIX)) return undefined
  const text = hash.slice(PREFIX.length)
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
