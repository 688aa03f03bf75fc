// What the server tells anybody, whether signed in or not.
import { queryOptions } from '@tanstack/react-query'
import { answer, openApi } from './client'

/** Its `site_url` is what a provider has to be told, whatever name this page was opened under. */
export const preflightQuery = queryOptions({
  queryKey: ['preflight'],
  staleTime: Infinity,
  queryFn: ({ signal }) => answer(openApi.GET('/_preflight/', { signal })),
})
