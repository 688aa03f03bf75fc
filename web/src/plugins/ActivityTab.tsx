// Who did what with an app in this project, with what was before and after.
import { Button, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { answer, api, type Schema } from '../api/client'
import { Empty, Failed, Loading } from '../ui/States'
import { Time } from '../ui/Values'
import classes from './ActivityTab.module.css'
import type { App } from './queries'

type ActivityEntry = Omit<Schema<'ActivityLogEntry'>, 'detail'> & {
  detail: Pick<Schema<'ActivityLogEntry'>['detail'], 'changes'>
}

const PER_PAGE = 50

const DEEDS: Readonly<Record<string, string>> = {
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
  if (log.isPending) return <Loading />
  if (log.isLoadingError)
    return (
      <Failed what="The activity could not be loaded" error={log.error} onRetry={() => void log.refetch()} />
    )
  const entries = log.data.pages.flatMap(({ results }) => results)
  if (entries.length === 0)
    return (
      <Empty title="Nobody has changed this app">
        Each change is listed here: who made it, and what was before and after.
      </Empty>
    )
  return (
    <>
      <ol className={classes.entries}>
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </ol>
      {log.hasNextPage && (
        <Button
          variant="default"
          mt="md"
          loading={log.isFetchingNextPage}
          onClick={() => void log.fetchNextPage()}
        >
          Show earlier changes
        </Button>
      )}
    </>
  )
}

function Entry({ entry: { activity, actor, created_at, detail } }: { entry: ActivityEntry }) {
  const changes = activity === 'created' ? [] : detail.changes
  return (
    <li className={classes.entry}>
      <div className={classes.head}>
        <span>
          <b>{actor.name}</b> {DEEDS[activity] ?? activity.replaceAll('_', ' ')}
        </span>
        <Text size="sm" c="dimmed">
          <Time value={created_at} />
        </Text>
      </div>
      {changes.length > 0 && (
        <dl className={classes.changes}>
          {changes.map(({ field, before, after }, index) => (
            <div key={index} className={classes.change}>
              <dt className="mono">{field}</dt>
              <dd>
                {(before ?? null) !== null && <del className={classes.before}>{written(before)}</del>}
                {(after ?? null) !== null && <ins className={classes.after}>{written(after)}</ins>}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  )
}

const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
