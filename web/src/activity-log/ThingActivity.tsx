// Who did what with one thing, such as an export: each change with what was before and after.
import { Button, Text } from '@mantine/core'
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { Empty, Failed, Loading } from '../ui/States'
import { Time } from '../ui/Values'
import classes from './ThingActivity.module.css'
import { actorText, changeText, type Entry } from './words'

type Log = UseInfiniteQueryResult<InfiniteData<{ results: readonly Entry[] }>>
type Props = {
  log: Log
  /** `export` */
  thing: string
  /** By activity: `changed its settings`. */
  deeds: Readonly<Record<string, string>>
}

export function ThingActivity({ log, thing, deeds }: Props) {
  if (log.isPending) return <Loading />
  if (log.isLoadingError)
    return (
      <Failed error={log.error} what="The activity could not be read." onRetry={() => void log.refetch()} />
    )
  const entries = log.data.pages.flatMap(({ results }) => results)
  if (entries.length === 0)
    return (
      <Empty title={`Nobody has changed this ${thing}`}>
        Each change is listed here: who made it, and what was before and after.
      </Empty>
    )
  return (
    <>
      <ol className={classes.entries}>
        {entries.map((entry) => (
          <li key={entry.id} className={classes.entry}>
            <div className={classes.head}>
              <span>
                <b>{actorText(entry)}</b> {deeds[entry.activity] ?? entry.activity.replaceAll('_', ' ')}
              </span>
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
            {(before ?? null) !== null && <del className={classes.before}>{changeText(before)}</del>}
            {(after ?? null) !== null && <ins className={classes.after}>{changeText(after)}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
