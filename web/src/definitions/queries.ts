// What the pages about definitions ask of the API: events and properties alike, told apart by the tab.
import { queryOptions } from '@tanstack/react-query'
import { answer, api, type Schema } from '../api/client'
import type { Shown, Tab } from './search'

/** Without what is always null. */
export type EventDefinition = Omit<
  Schema<'EventDefinition'>,
  'owner' | 'created_by' | 'action_id' | 'last_calculated_at'
>
export type PropertyDefinition = Schema<'PropertyDefinition'>
export type Definition = EventDefinition | PropertyDefinition
export type Change = {
  description?: string
  tags?: string[]
  verified?: boolean
  hidden?: boolean
  property_type?: PropertyDefinition['property_type']
}

export const isEvent = (definition: Definition): definition is EventDefinition => 'volume' in definition

export const definitionsKey = (projectId: string) => ['definitions', projectId] as const
export const listsKey = (projectId: string) => [...definitionsKey(projectId), 'list'] as const

type Page = { limit: number; offset: number }

export async function listDefinitions(
  projectId: string,
  tab: Tab,
  { q, show }: { q: string; show: Shown },
  page: Page,
  signal: AbortSignal,
): Promise<{ count: number; next: string | null; results: Definition[] }> {
  const path = { project_id: projectId }
  const query = {
    ...page,
    ...(q === '' ? {} : { search: q }),
    ...(show === 'all' ? {} : { verified: show === 'verified' }),
  }
  if (tab !== 'events') {
    const type = tab === 'properties' ? 'event' : 'person'
    const params = { path, query: { ...query, type } } as const
    return answer(api.GET('/api/projects/{project_id}/property_definitions/', { params, signal }))
  }
  const params = { path, query: { ...query, ordering: '-volume' } }
  return answer(api.GET('/api/projects/{project_id}/event_definitions/', { params, signal }))
}

const placeOf = (projectId: string, id: string) => ({ path: { project_id: projectId, id } })

export const definitionQuery = (projectId: string, tab: Tab, id: string) =>
  queryOptions({
    queryKey: [...definitionsKey(projectId), 'one', id],
    queryFn: ({ signal }): Promise<Definition> => {
      const params = placeOf(projectId, id)
      return tab === 'events'
        ? answer(api.GET('/api/projects/{project_id}/event_definitions/{id}/', { params, signal }))
        : answer(api.GET('/api/projects/{project_id}/property_definitions/{id}/', { params, signal }))
    },
  })

export function changeDefinition(projectId: string, definition: Definition, change: Change) {
  const params = placeOf(projectId, definition.id)
  const { property_type, ...body } = change
  return isEvent(definition)
    ? answer(api.PATCH('/api/projects/{project_id}/event_definitions/{id}/', { params, body }))
    : answer(
        api.PATCH('/api/projects/{project_id}/property_definitions/{id}/', {
          params,
          body: { ...body, ...(property_type === undefined ? {} : { property_type }) },
        }),
      )
}

export function removeDefinition(projectId: string, definition: Definition) {
  const params = placeOf(projectId, definition.id)
  return isEvent(definition)
    ? answer(api.DELETE('/api/projects/{project_id}/event_definitions/{id}/', { params }))
    : answer(api.DELETE('/api/projects/{project_id}/property_definitions/{id}/', { params }))
}
