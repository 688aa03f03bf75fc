// What a project has by name, for the palette: exports and apps.
import { queryOptions } from '@tanstack/react-query'
import type { LinkProps } from '@tanstack/react-router'
import { answer, api } from '../api/client'
import type { IconName } from '../ui/Icon'

export type Thing = { key: string; label: string; group: string; icon: IconName; link: LinkProps }

export const foundThings = (projectId: string) =>
  queryOptions({
    queryKey: ['things', projectId],
    async queryFn(): Promise<Thing[]> {
      return apps(projectId)
    },
  })

async function apps(projectId: string): Promise<Thing[]> {
  const params = { path: { project_id: projectId }, query: { limit: 1000 } }
  const { results } = await answer(api.GET('/api/projects/{project_id}/plugin_configs/', { params }))
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
