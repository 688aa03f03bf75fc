import { useInfiniteQuery } from '@tanstack/react-query'
import { ENTRY_COLUMNS } from '../activity-log/entry-columns'
import { EntryDetails } from '../activity-log/EntryDetails'
import { entryText } from '../activity-log/words'
import { answer, api } from '../api/client'
import { useProject } from '../api/me'
import { DataTable } from '../ui/DataTable'
import { Details } from '../ui/Details'
import { Empty, Failed, Loading } from '../ui/States'

type Props = { open: string | undefined; onOpen: (id: string | undefined) => void }

/** What was changed in the project and in what belongs to it. */
export function ActivityTab({ open, onOpen }: Props) {
  const { id } = useProject()
  const log = useInfiniteQuery({
    queryKey: ['project-activity', id],
    initialPageParam: '',
    queryFn: ({ pageParam: cursor, signal }) =>
      answer(
        api.GET('/api/projects/{project_id}/activity_log/', {
          params: { path: { project_id: String(id) }, query: cursor === '' ? {} : { cursor } },
          signal,
        }),
      ),
    getNextPageParam: ({ next }) =>
      next === null ? undefined : (new URL(next).searchParams.get('cursor') ?? undefined),
  })
  if (log.isPending) return <Loading />
  if (log.isLoadingError)
    return <Failed error={log.error} what="The log could not be shown." onRetry={() => void log.refetch()} />
  const rows = log.data.pages.flatMap(({ results }) => results)
  const opened = rows.find((entry) => entry.id === open)
  return (
    <>
      {rows.length === 0 ? (
        <Empty title="Nothing has been changed yet.">
          Every change of the project, its exports and its apps leaves an entry here.
        </Empty>
      ) : (
        <DataTable
          label="Activity log"
          columns={ENTRY_COLUMNS}
          rows={rows}
          rowKey={(entry) => entry.id}
          onOpen={(entry) => onOpen(entry.id)}
          openLabel={(entry) => `Open: ${entryText(entry)}`}
          openKey={open}
          onEnd={() => {
            if (log.hasNextPage && !log.isFetchingNextPage) void log.fetchNextPage()
          }}
        />
      )}
      <Details isOpen={open !== undefined} onClose={() => onOpen(undefined)} title="Entry">
        {opened ? (
          <EntryDetails entry={opened} />
        ) : (
          <Empty title="This entry is not on the page.">Scroll further down.</Empty>
        )}
      </Details>
    </>
  )
}
