// Names that completion offers, asked of the API once and kept for a while.
import type { QueryClient } from '@tanstack/react-query'
import { answer, api } from '../api/client'
import type { Names } from './completion'

const KEPT_MS = 300_000
/** A project with more names is asked for those that fit what is typed. */
const MOST = 1_000

export const namesOf = (queries: QueryClient, project_id: string): Names => ({
  language: () =>
    queries.fetchQuery({
      queryKey: ['query-schema', project_id],
      staleTime: Infinity,
      queryFn: async () =>
        (await answer(
          api.GET('/api/projects/{project_id}/query/schema/', { params: { path: { project_id } } }),
        ))!,
    }),

  async properties(owner, typed) {
    const ask = (search: string) =>
      queries.fetchQuery({
        queryKey: ['property-names', project_id, owner, search],
        staleTime: KEPT_MS,
        queryFn: () =>
          answer(
            api.GET('/api/projects/{project_id}/property_definitions/', {
              params: {
                path: { project_id },
                query: { ...owner, limit: MOST, ...(search === '' ? {} : { search }) },
              },
            }),
          ),
      })
    const all = await ask('')
    const { results } = all.count <= all.results.length || typed === '' ? all : await ask(typed)
    return results.map(({ name, property_type }) => ({ name, detail: property_type }))
  },

  async events(typed) {
    const ask = (search: string) =>
      queries.fetchQuery({
        queryKey: ['event-names', project_id, search],
        staleTime: KEPT_MS,
        queryFn: () =>
          answer(
            api.GET('/api/projects/{project_id}/event_definitions/', {
              params: { path: { project_id }, query: { limit: MOST, ...(search === '' ? {} : { search }) } },
            }),
          ),
      })
    const all = await ask('')
    const { results } = all.count <= all.results.length || typed === '' ? all : await ask(typed)
    return results.map(({ name }) => name)
  },
})
