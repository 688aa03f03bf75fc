// What pages about people ask of the API.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answer, api, type Schema } from '../api/client'

export type Person = Schema<'Person'>
const PAGE = 100

/** The API names people by their e-mail first, which stands beside it. */
export function givenName({ name, properties }: Person): string {
  return typeof properties.name === 'string' && properties.name.trim() !== '' ? properties.name : name
}

export const personsQuery = (projectId: string, search: string) =>
  infiniteQueryOptions({
    queryKey: ['persons', projectId, search],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE, offset: pageParam, ...(search === '' ? {} : { search }) }
      const params = { path: { project_id: projectId }, query }
      return answer(api.GET('/api/projects/{project_id}/persons/', { params, signal }))
    },
    getNextPageParam: ({ next }, _pages, offset) => (next === null ? null : offset + PAGE),
  })

export const personQuery = (projectId: string, id: string) =>
  queryOptions({
    queryKey: ['person', projectId, id],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/persons/{id}/', {
          params: { path: { project_id: projectId, id } },
          signal,
        }),
      ),
  })

export type Group = {
  index: number
  key: string
  properties: Record<string, unknown>
  /** When one of their events last named it. */
  last_seen: string
}

const MOST_GROUPS = 100

/** The groups of these types that the events of a person name. They are known by these events alone. */
export const groupsOfPersonQuery = (projectId: string, uuid: string, indexes: readonly number[]) =>
  queryOptions({
    queryKey: ['groups of person', projectId, uuid, indexes],
    async queryFn({ signal }): Promise<Group[]> {
      const found = await Promise.all(indexes.map((index) => groupsOf(projectId, uuid, index, signal)))
      return found.flat()
    },
  })

async function groupsOf(
  projectId: string,
  uuid: string,
  index: number,
  signal: AbortSignal,
): Promise<Group[]> {
  const query = `SELECT $group_${index} AS key, any(group_${index}.properties), max(timestamp) AS seen FROM events
WHERE person_id = {person} AND key IS NOT NULL AND key != '' GROUP BY key ORDER BY seen DESC LIMIT ${MOST_GROUPS}`
  const { results } = await answer(
    api.POST('/api/projects/{project_id}/query/', {
      params: { path: { project_id: projectId } },
      body: { query: { kind: 'HogQLQuery', query, values: { person: uuid } } },
      signal,
    }),
  )
  return (results as unknown as [string, unknown, string][]).map(([key, properties, last_seen]) => ({
    index,
    key,
    properties: propertiesOf(properties),
    last_seen,
  }))
}

/** Queries answer objects as JSON text. */
function propertiesOf(value: unknown): Record<string, unknown> {
  const parsed: unknown = typeof value === 'string' && value !== '' ? JSON.parse(value) : value
  return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
}
