// Who changed what of an export: before and after.
import { Button, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { answer, api, type Schema } from '../api/client'
import { Empty, Failed, Loading } from '../ui/States'
import { Time } from '../ui/Values'
import classes from './ActivityTab.module.css'
import { useExportPath } from './addresses'
import { changeText, deedText } from './activity'
import { cursorOf, exportKey } from './queries'

type Entry = { activity: string; detail: Pick<Schema<'ActivityLogEntry'>['detail'], 'changes'> }

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
  const entries = log.data?.pages.flatMap(({ results }) => results) ?? []
  if (log.isPending) return <Loading />
  if (log.isError && entries.length === 0)
    return (
      <Failed error={log.error} what="The activity could not be read." onRetry={() => void log.refetch()} />
    )
  if (entries.length === 0)
    return (
      <Empty title="Nobody has changed this export">
        Each change is listed here: who made it, and what was before and after.
      </Empty>
    )
  return (
    <>
      <ol className={classes.entries}>
        {entries.map((entry) => (
          <li key={entry.id} className={classes.entry}>
            <div className={classes.head}>
              <Text fw={500}>
                {entry.actor.name} {deedText(entry.activity)}
              </Text>
              <Text size="sm" c="dimmed">
                <Time value={entry.created_at} />
              </Text>
            </div>
            <Changes entry={entry} />
          </li>
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

function Changes({ entry: { activity, detail } }: { entry: Entry }) {
  if (activity === 'created' || detail.changes.length === 0) return null
  return (
    <dl className={classes.changes}>
      {detail.changes.map(({ field, before, after }, index) => (
        <div key={index} className={classes.change}>
          <dt className="mono">{field}</dt>
          <dd>
            {before !== null && before !== undefined && (
              <del className={classes.before}>{changeText(before)}</del>
            )}
            {after !== null && after !== undefined && (
              <ins className={classes.after}>{changeText(after)}</ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}
