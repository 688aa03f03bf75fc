// The explorer: a list of events by filters, time and chosen columns, that new ones slide into when it is live.
import { Button } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, useState } from 'react'
import { useProject } from '../api/me'
import { Details } from '../ui/Details'
import { Page } from '../ui/Page'
import { Empty } from '../ui/States'
import { TimeRange } from '../ui/TimeRange'
import { ColumnPicker } from './ColumnPicker'
import { DEFAULT_COLUMNS } from './columns'
import classes from './EventsPage.module.css'
import { EventTable, listedEvents } from './EventTable'
import { FilterBar } from './FilterBar'
import { useLiveEvents } from './live-events'
import { LiveBar, LiveState, NewEvents } from './LiveBar'
import { eventsQuery, questionOf } from './queries'
import type { EventsSearch } from './search'
import { TakeAway } from './TakeAway'

const EventDetails = lazy(() =>
  import('./EventDetails').then(({ EventDetails }) => ({ default: EventDetails })),
)
const route = getRouteApi('/frame/project/$projectId/events')

export function EventsPage() {
  const { projectId } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { after, before, open, live = false } = search
  const [kept, setKept] = useLocalStorage<string[]>({
    key: `event-columns:${projectId}`,
    defaultValue: DEFAULT_COLUMNS,
  })
  const columns = search.columns ?? kept
  const [isPaused, setPaused] = useState(false)
  const [isPointed, setPointed] = useState(false)

  const question = questionOf(projectId, search)
  const { filters } = question
  const list = useInfiniteQuery(eventsQuery(question))
  const listed = listedEvents(list)
  const tail = useLiveEvents({
    projectId,
    filters,
    listed,
    isOn: live && list.isSuccess,
    isHeld: isPaused || isPointed,
    refresh: () => void list.refetch(),
  })
  const change = (next: Partial<EventsSearch>) =>
    void navigate({ search: (now) => withoutNothing({ ...now, ...next }), replace: false })
  const shown = live ? tail.shown : []
  const known = [...shown, ...listed].find(({ id }) => id === open)

  return (
    <Page
      title="Events"
      isFull
      state={live && <LiveState state={tail.state} isPaused={isPaused} />}
      actions={
        <>
          <LiveBar
            isLive={live}
            isPaused={isPaused}
            // What is live has no end.
            onLive={(isOn) => {
              setPaused(false)
              change(isOn ? { live: true, before: undefined } : { live: undefined })
            }}
            onPause={setPaused}
          />
          <TakeAway question={question} columns={columns} />
        </>
      }
    >
      <div className={classes.tools}>
        <FilterBar projectId={projectId} filters={filters} onChange={(next) => change({ filters: next })} />
        <div className={classes.view}>
          <TimeRange
            value={{ after, before }}
            onChange={(range) => change({ after: undefined, before: undefined, ...range })}
          />
          <ColumnPicker
            projectId={projectId}
            columns={columns}
            onChange={(next) => {
              setKept(next)
              change({ columns: next })
            }}
          />
        </div>
      </div>
      <div
        className={classes.list}
        onPointerEnter={({ pointerType }) => setPointed(pointerType === 'mouse')}
        onPointerLeave={() => setPointed(false)}
      >
        {live && <NewEvents waiting={tail.waiting} skipped={tail.skipped} onShow={tail.release} />}
        <EventTable
          list={list}
          columns={columns}
          live={shown}
          openId={open}
          onOpen={({ id }) => change({ open: id })}
          height="100%"
          empty={
            <Nothing
              projectId={projectId}
              isNarrowed={filters.length > 0 || after !== undefined || before !== undefined}
              onAll={() => change({ filters: undefined, after: undefined, before: undefined })}
            />
          }
        />
      </div>
      <Details
        isOpen={open !== undefined}
        onClose={() => change({ open: undefined })}
        title={known?.event ?? 'Event'}
      >
        {open !== undefined && (
          <EventDetails
            projectId={projectId}
            id={open}
            known={known}
            onFilter={(filter) => change({ filters: [...filters, filter], open: undefined })}
          />
        )}
      </Details>
    </Page>
  )
}

type NothingProps = { projectId: string; isNarrowed: boolean; onAll: () => void }

function Nothing({ projectId, isNarrowed, onAll }: NothingProps) {
  const { ingested_event } = useProject()
  if (isNarrowed)
    return (
      <Empty
        title="No event matches."
        action={
          <Button variant="default" onClick={onAll}>
            Show all events
          </Button>
        }
      >
        Nothing stored so far fits these filters and this time.
      </Empty>
    )
  if (ingested_event) return <Empty title="No events yet." />
  return (
    <Empty
      title="No events yet."
      action={
        <Button
          component={Link}
          {...({ to: '/project/$projectId/get-started', params: { projectId } } as object)}
        >
          Send the first event
        </Button>
      }
    >
      Whatever your pages, apps and servers send is listed here within a second, newest first. Connect one of
      them to begin.
    </Empty>
  )
}

/** An address says nothing of what is not set. */
function withoutNothing(search: Record<string, unknown>): EventsSearch {
  return Object.fromEntries(
    Object.entries(search).filter(
      ([name, value]) => value !== undefined && !(name === 'filters' && (value as []).length === 0),
    ),
  )
}
