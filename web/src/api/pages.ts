// Lists of the API, page by page as one scrolls: `limit` and `offset` in, `count`, `next` and `results` out.
import { useInfiniteQuery, type QueryKey } from '@tanstack/react-query'
import { distinctRows } from './rows'

type Answer<Row> = { count: number; next: string | null; results: Row[] }
type Ask<Row> = (page: { limit: number; offset: number }, signal: AbortSignal) => Promise<Answer<Row>>

export type Pages<Row extends { id: string | number }> = ReturnType<typeof usePages<Row>>

const ROWS = 100

export function usePages<Row extends { id: string | number }>(queryKey: QueryKey, ask: Ask<Row>) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => ask({ limit: ROWS, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ next, results }, _pages, offset) =>
      next === null ? undefined : offset + results.length,
    // While a filter changes the list stays, and does not jump.
    placeholderData: (before) => before,
  })
  const pages = query.data?.pages
  return {
    rows: pages && distinctRows(pages, ({ id }) => id),
    count: pages?.at(-1)?.count ?? 0,
    error: query.error,
    isLoadingMore: query.isFetchingNextPage,
    retry: () => void query.refetch(),
    more: () => {
      if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage()
    },
  }
}
