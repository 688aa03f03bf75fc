// A list of events, newest first, that goes on for as long as there are older ones.
import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import type { InfiniteData } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { DataTable } from '../ui/DataTable'
import { countText } from '../ui/format'
import { Failed, Loading } from '../ui/States'
import { eventColumns } from './columns'
import type { StoredEvent } from './queries'

type Page = { next: string | null; events: StoredEvent[] }

type Props = {
  list: UseInfiniteQueryResult<InfiniteData<Page>>
  columns: readonly string[]
  /** Events that came since and are not in the list, newest first. */
  live?: readonly StoredEvent[]
  openId: string | undefined
  onOpen: (event: StoredEvent) => void
  /** In place of a table without rows. */
  empty: ReactNode
  /** Left out where all are of one person. */
  hasPerson?: boolean
  height?: string
}

export function EventTable({ list, columns, live = [], openId, onOpen, empty, hasPerson, height }: Props) {
  if (list.isPending) return <Loading rows={14} label="Loading events" />
  if (list.isError && !list.data)
    return (
      <Failed error={list.error} what="The events could not be listed." onRetry={() => void list.refetch()} />
    )
  const rows = [...live, ...listedEvents(list)]
  if (rows.length === 0) return empty
  const arrived = new Set(live.map(({ id }) => id))
  return (
    <DataTable
      label="Events"
      columns={eventColumns(columns, hasPerson)}
      rows={rows}
      rowKey={({ id }) => id}
      onOpen={onOpen}
      openKey={openId}
      isNew={({ id }) => arrived.has(id)}
      onEnd={() => {
        if (list.hasNextPage && !list.isFetchingNextPage && !list.isFetchNextPageError)
          void list.fetchNextPage()
      }}
      foot={<Foot list={list} count={rows.length} />}
      height={height}
    />
  )
}

export function listedEvents({ data }: Props['list']): StoredEvent[] {
  return data?.pages.flatMap(({ events }) => events) ?? []
}

function Foot({ list, count }: { list: Props['list']; count: number }) {
  if (list.isFetchNextPageError)
    return (
      <Failed
        error={list.error}
        what="Older events could not be listed."
        onRetry={() => void list.fetchNextPage()}
      />
    )
  if (list.hasNextPage) return 'Loading older events'
  return count === 1 ? 'This is the only event.' : `These are all ${countText(count)} events.`
}
