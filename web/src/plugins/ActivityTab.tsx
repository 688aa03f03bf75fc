// Who did what with an app in this project.
import { useInfiniteQuery } from '@tanstack/react-query'
import { ThingActivity } from '../activity-log/ThingActivity'
import { answer, api } from '../api/client'
import type { App } from './queries'

const PER_PAGE = 50

const DEEDS = {
  created: 'added it to the project',
  enabled: 'switched it on',
  disabled: 'switched it off',
  config_updated: 'changed its settings',
  order_changed: 'changed its place',
  deleted: 'removed it',
  attachment_created: 'attached a file',
  attachment_updated: 'replaced a file',
  attachment_deleted: 'took a file away',
  job_triggered: 'started a job',
}

export function ActivityTab({ projectId, app }: { projectId: string; app: App }) {
  const log = useInfiniteQuery({
    queryKey: ['apps', projectId, String(app.id), 'activity'],
    initialPageParam: 1,
    queryFn({ signal, pageParam }) {
      const params = {
        path: { project_id: projectId, id: String(app.id) },
        query: { page: pageParam, limit: PER_PAGE },
      }
      return answer(api.GET('/api/projects/{project_id}/plugin_configs/{id}/activity/', { params, signal }))
    },
    getNextPageParam: ({ next }, pages) => (next === null ? undefined : pages.length + 1),
  })
  return <ThingActivity log={log} thing="app" deeds={DEEDS} />
}
