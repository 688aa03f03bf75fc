// Three rows: what needs attention, what comes in, what goes out.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { answer, api } from '../api/client'
import { noneIfDenied } from '../api/failure'
import { statusQuery } from '../batch-exports/queries'
import { Page } from '../ui/Page'
import { NeedsAttention } from './NeedsAttention'
import { ComesIn } from './ComesIn'
import { GoesOut } from './GoesOut'

const REFRESH_MS = 30_000

export function OverviewPage() {
  const { projectId } = useParams({ from: '/frame/project/$projectId/overview' })
  const exports = useQuery(statusQuery(projectId))
  const apps = useQuery({
    queryKey: ['apps', projectId, 'standing'],
    refetchInterval: REFRESH_MS,
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/plugin_configs/', {
          params: { path: { project_id: projectId }, query: { limit: 1_000 } },
          signal,
        }),
      ).catch(noneIfDenied),
  })
  return (
    <Page title="Overview">
      <NeedsAttention projectId={projectId} exports={exports} apps={apps} />
      <ComesIn projectId={projectId} />
      <GoesOut projectId={projectId} exports={exports} />
    </Page>
  )
}
