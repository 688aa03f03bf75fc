// What pages about events ask of the API.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answer, api, type Schema } from '../api/client'
import type { Range } from '../ui/time-range'
import type { Filter, Subject } from './filter'
import { filterQuery, type EventsSearch } from './search'
import type { Owner } from './subjects'

export type StoredEvent = Schema<'Event'>
export type EventsQuestion = Range & { projectId: string; filters: readonly Filter[]; personId?: string }

const NONE: Filter[] = []

/** What the address of the explorer asks. */
export const questionOf = (
  projectId: string,
  { filters = NONE, after, before }: EventsSearch,
): EventsQuestion => ({
  projectId,
  filters,
  ...(after === undefined ? {} : { after }),
  ...(before === undefined ? {} : { before }),
})

type Query = Record<string, string>
const PAGE = '100'
const COMPLETIONS = 50

export const eventsQuery = (question: EventsQuestion) =>
  infiniteQueryOptions({
    queryKey: ['events', question],
    initialPageParam: firstPage(question),
    async queryFn({ pageParam, signal }) {
      const path = { project_id: question.projectId }
      const page = await answer(
        api.GET('/api/projects/{project_id}/events/', { params: { path, query: pageParam }, signal }),
      )
      if (typeof page === 'string') throw notJson()
      return { next: page.next, events: page.results as StoredEvent[] }
    },
    // The link holds the whole question, with the place where it goes on.
    getNextPageParam: ({ next }): Query | null =>
      next === null ? null : Object.fromEntries(new URL(next).searchParams),
  })

function firstPage({ filters, personId, after, before }: EventsQuestion): Query {
  return {
    limit: PAGE,
    ...filterQuery(filters, personId),
    ...(after === undefined ? {} : { after }),
    ...(before === undefined ? {} : { before }),
  }
}

export const eventQuery = (projectId: string, id: string) =>
  queryOptions({
    queryKey: ['event', projectId, id],
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/events/{id}/', {
          params: { path: { project_id: projectId, id } },
          signal,
        }),
      ),
  })

export const groupTypesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['group types', projectId],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/groups_types/', {
          params: { path: { project_id: projectId } },
          signal,
        }),
      ),
  })

/** Names of properties that hold what was typed. */
export const propertyNamesQuery = (projectId: string, { type, group_type_index }: Owner, search: string) =>
  queryOptions({
    queryKey: ['property names', projectId, type, group_type_index, search],
    staleTime: 60_000,
    async queryFn({ signal }) {
      const query = {
        type,
        limit: COMPLETIONS,
        exclude_hidden: true,
        ...(group_type_index === undefined ? {} : { group_type_index }),
        ...(search === '' ? {} : { search }),
      }
      const path = { project_id: projectId }
      const { results } = await answer(
        api.GET('/api/projects/{project_id}/property_definitions/', { params: { path, query }, signal }),
      )
      return results.map(({ name }) => name)
    },
  })

/** Values that the subject of a filter has had, by what was typed; none for what the API knows no values of. */
export const valuesQuery = (projectId: string, { type, key }: Subject, typed: string) =>
  queryOptions({
    queryKey: ['values', projectId, type, key, typed],
    staleTime: 30_000,
    async queryFn({ signal }): Promise<string[]> {
      const path = { project_id: projectId }
      const query = { key, ...(typed === '' ? {} : { value: typed }) }
      if (type === 'person') {
        const found = await answer(
          api.GET('/api/projects/{project_id}/persons/values/', { params: { path, query }, signal }),
        )
        return found.map(({ name }) => (typeof name === 'string' ? name : JSON.stringify(name)))
      }
      const isColumn = type === 'event_metadata'
      if (type !== 'event' && !(isColumn && (key === 'event' || key === 'distinct_id'))) return []
      const found = await answer(
        api.GET('/api/projects/{project_id}/events/values/', {
          params: { path, query: { ...query, ...(isColumn ? { is_column: 'true' } : {}) } },
          signal,
        }),
      )
      if (typeof found === 'string') throw notJson()
      return found.map(({ name }) => name)
    },
  })

/** The same paths answer CSV when that is asked for. */
const notJson = () => new Error('The server answered with a table in place of JSON.')
