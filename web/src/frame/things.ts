// What has a name, for the palette: exports and apps of a project, and projects.
import { queryOptions } from '@tanstack/react-query'
import type { LinkProps } from '@tanstack/react-router'
import { answer, api } from '../api/client'
import { noneIfDenied } from '../api/failure'
import type { IconName } from '../ui/Icon'

export type Thing = { key: string; label: string; group: string; icon: IconName; link: LinkProps }

const MOST_ORGANIZATIONS = 1000

export const foundThings = (projectId: string) =>
  queryOptions({
    queryKey: ['things', projectId],
    async queryFn({ signal }): Promise<Thing[]> {
      const found = await Promise.all([exportsOf(projectId, signal), appsOf(projectId, signal)])
      return found.flat()
    },
  })

/** Projects of every organization that one belongs to. */
export const foundProjects = queryOptions({
  queryKey: ['projects by name'],
  staleTime: 60_000,
  async queryFn({ signal }) {
    const params = { query: { limit: MOST_ORGANIZATIONS } }
    const { results } = await answer(api.GET('/api/organizations/', { params, signal }))
    const place = (name: string) => (results.length === 1 ? 'Project' : `Project of ${name}`)
    return results.flatMap(({ name: organization, teams }) =>
      teams.map(({ id, name }) => ({ id, name, group: place(organization) })),
    )
  },
})

async function exportsOf(projectId: string, signal: AbortSignal): Promise<Thing[]> {
  const params = { path: { project_id: projectId } }
  const { results } = await answer(
    api.GET('/api/projects/{project_id}/batch_exports/status/', { params, signal }),
  )
  return results.map(({ id, name }) => ({
    key: `export ${id}`,
    label: name,
    group: 'Export',
    icon: 'exports',
    link: {
      to: '/project/$projectId/exports/$exportId/$tab',
      params: { projectId, exportId: id, tab: 'runs' },
    },
  }))
}

async function appsOf(projectId: string, signal: AbortSignal): Promise<Thing[]> {
  const params = { path: { project_id: projectId }, query: { limit: 1000 } }
  const { results } = await answer(
    api.GET('/api/projects/{project_id}/plugin_configs/', { params, signal }),
  ).catch(noneIfDenied)
  return results.map(({ id, name }) => ({
    key: `app ${id}`,
    label: name ?? `App ${id}`,
    group: 'App',
    icon: 'apps',
    link: {
      to: '/project/$projectId/apps/$configId/$tab',
      params: { projectId, configId: String(id), tab: 'settings' },
    },
  }))
}
