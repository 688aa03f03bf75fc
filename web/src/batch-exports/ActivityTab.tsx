// Who changed what of an export.
import { useInfiniteQuery } from '@tanstack/react-query'
import { ThingActivity } from '../activity-log/ThingActivity'
import { answer, api } from '../api/client'
import { useExportPath } from './addresses'
import { cursorOf, exportKey } from './queries'

const DEEDS = { created: 'created it', updated: 'changed it', deleted: 'deleted it' }

export function ActivityTab() {
  const path = useExportPath()
  const log = useInfiniteQuery({
    queryKey: [...exportKey(path), 'activity'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET('/api/projects/{project_id}/activity_log/', {
          params: {
            path: { project_id: path.projectId },
            query: {
              scope: 'BatchExport',
              item_id: path.exportId,
              ...(pageParam === undefined ? {} : { cursor: pageParam }),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: ({ next }) => cursorOf(next),
  })
  return <ThingActivity log={log} thing="export" deeds={DEEDS} />
}
