// What a project has by name, for the palette: exports and apps.
import { queryOptions } from '@tanstack/react-query'
import type { LinkProps } from '@tanstack/react-router'
import { answer, api } from '../api/client'
import type { IconName } from '../ui/Icon'

export type Thing = { key: string; label: string; group: string; icon: IconName; link: LinkProps }

export const foundThings = (projectId: string) =>
  queryOptions({
    queryKey: ['things', projectId],
    queryFn: ({ signal }): Promise<Thing[]> => exportsOf(projectId, signal),
  })

async function exportsOf(projectId: string, signal: AbortSignal): Promise<Thing[]> {
  const path = { project_id: projectId }
  const { results } = await answer(
    api.GET('/api/projects/{project_id}/batch_exports/status/', { params: { path }, signal }),
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
